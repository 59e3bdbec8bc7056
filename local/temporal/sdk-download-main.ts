import { TestWorkflowEnvironment } from '@temporalio/testing';

const [server, downloadDir] = process.argv.slice(2);
if (!downloadDir) throw new Error('Usage: sdk-download-main.ts <dev-server|time-skipping> <folder>');
const executable = { type: 'cached-download', downloadDir } as const;
const environment =
  server === 'dev-server'
    ? await TestWorkflowEnvironment.createLocal({ server: { executable } })
    : await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
await environment.teardown();
