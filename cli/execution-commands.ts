import { writeFile } from 'node:fs/promises';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Command } from 'commander';
import { decodeHistoryJson } from '../shared/platform/payload-json.ts';
import { AppError } from '../shared/pure/app-error.ts';
import { executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { retryAnyExecution } from '../shared/domain/automations/retry-executions.ts';
import { addCommand, type CliContext } from './context.ts';
import { parseId } from './project-id.ts';

const WHERE_IDS_ARE = 'Ids are UUIDs; GET /workflows/:id/executions shows them';

async function readHistory(client: Client, workflowId: string) {
  try {
    return await client.workflow.getHandle(workflowId).fetchHistory();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const suggestion = 'Temporal keeps closed executions for as long as the retention of its namespace says';
    throw new AppError('EXECUTION_NOT_FOUND', { suggestion });
  }
}

/** `execution history`, the Temporal history of one execution in the form for replaying, and `execution retry`. */
export function addExecutionCommands(program: Command, context: CliContext): void {
  const execution = program.command('execution').description('Executions of workflows');

  addCommand(execution, 'history <id>', 'Fetch the history of an execution, to be replayed in a test', 'reads')
    .requiredOption('--out <file>', 'file to write it to')
    .action(async (id: string, { out }: { out: string }, command: Command) => {
      const workflowId = executionWorkflowId(parseId(id, 'Execution not found', WHERE_IDS_ARE));
      const events = await context.withTemporal(async (client) => {
        const history = await readHistory(client, workflowId);
        const stored = JSON.parse(historyToJSON(history)) as unknown;
        const [codec] = client.options.loadedDataConverter.payloadCodecs;
        const readable = codec ? await decodeHistoryJson(stored, codec) : stored;
        await writeFile(out, `${JSON.stringify({ workflowId, history: readable })}\n`);
        return history.events?.length ?? 0;
      });
      context.answer(command, { workflowId, events, file: out }, `${workflowId}: ${events} events written to ${out}`);
    });

  addCommand(execution, 'retry <id>', 'Have a failed execution go on at the step that failed').action(
    async (text: string, _options: object, command: Command) => {
      const id = parseId(text, 'Execution not found', WHERE_IDS_ARE);
      const { status, automationId } = await context.withDatabase((em) => retryAnyExecution(em, id));
      context.answer(command, { id, workflowId: automationId, status }, `${id} is ${status}.`);
    },
  );
}
