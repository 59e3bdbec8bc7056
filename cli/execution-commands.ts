import { writeFile } from 'node:fs/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Command } from 'commander';
import { validate as isUuid } from 'uuid';
import { decodeHistoryJson } from '../shared/platform/payload-json.ts';
import { createTemporalClient } from '../shared/dispatch/temporal.ts';
import { AppError } from '../shared/pure/app-error.ts';
import { executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { addCommand, type CliContext } from './context.ts';

function notFound(suggestion: string): AppError {
  return new AppError('EXECUTION_NOT_FOUND', { suggestion });
}

/** `execution history`: the Temporal history of one execution, in the form for replaying. */
export function addExecutionCommands(program: Command, context: CliContext): void {
  const execution = program.command('execution').description('Executions of workflows, as Temporal has them');

  addCommand(execution, 'history <id>', 'Fetch the history of an execution, to be replayed in a test')
    .requiredOption('--out <file>', 'file to write it to')
    .action(async (id: string, { out }: { out: string }, command: Command) => {
      if (!isUuid(id)) throw notFound('Ids are UUIDs; GET /workflows/:id/executions shows them');
      const workflowId = executionWorkflowId(id.toLowerCase());
      const client = createTemporalClient(context.temporalOptions());
      try {
        const history = await client.workflow.getHandle(workflowId).fetchHistory();
        const stored = JSON.parse(historyToJSON(history)) as unknown;
        const [codec] = client.options.loadedDataConverter.payloadCodecs;
        const readable = codec ? await decodeHistoryJson(stored, codec) : stored;
        await writeFile(out, `${JSON.stringify({ workflowId, history: readable })}\n`);
        const events = history.events?.length ?? 0;
        context.answer(command, { workflowId, events, file: out }, `${workflowId}: ${events} events written to ${out}`);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        throw notFound('Temporal keeps closed executions for as long as the retention of its namespace says');
      } finally {
        await client.connection.close();
      }
    });
}
