import { TestWorkflowEnvironment } from '@temporalio/testing';

const [server, downloadDir] = process.argv.slice(2);
const executable = { type: 'cached-download', downloadDir: downloadDir! } as const;
const environment =
  server === 'dev-server'
    ? await TestWorkflowEnvironment.createLocal({ server: { executable } })
    : await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
await environment.teardown();
