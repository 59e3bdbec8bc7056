import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/*
 * For the stack traces of workflows, which no test asks for, the SDK looks at every promise of a thread that runs
 * workflows. Where that is the main thread, it takes a quarter of the CPU of all requests.
 */
Reflect.set(globalHandlers, 'setPromiseHook', () => {});
