import { Script, type Context, type RunningScriptInNewContextOptions } from 'node:vm';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/*
 * What the SDK does for workflows in the main thread of a test, and no test needs. For stack traces of workflows it
 * looks at every promise of the thread, which takes a quarter of the CPU of all requests. And it limits each call of a
 * workflow to fifty days: for a limit, Node starts a thread, which takes a hundred times the CPU of the call.
 */
Reflect.set(globalHandlers, 'setPromiseHook', () => {});

const NO_LIMIT_MS = 1e9;
const run = Reflect.get(Script.prototype, 'runInContext');
Script.prototype.runInContext = function (context: Context, options: RunningScriptInNewContextOptions = {}): unknown {
  const { timeout = 0, ...others } = options;
  return run.call(this, context, timeout > NO_LIMIT_MS ? others : options);
};
