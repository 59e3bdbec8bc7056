// Keeps stacks out of the failures that Temporal stores: the Temporal UI shows them as the result of a workflow, where
// they hide the reason. The log of the worker has the stacks of unexpected errors. The SDK loads this file by its path:
// with `require` in a process, and with webpack into the workflow bundle. So it is CommonJS.
const { DefaultFailureConverter } = require('@temporalio/common');

function withoutStacks(failure) {
  return { ...failure, stackTrace: '', ...(failure.cause && { cause: withoutStacks(failure.cause) }) };
}

class StacklessFailureConverter extends DefaultFailureConverter {
  errorToFailureInner(error, payloadConverter, context) {
    return withoutStacks(super.errorToFailureInner(error, payloadConverter, context));
  }
}

exports.StacklessFailureConverter = StacklessFailureConverter;
exports.failureConverter = new StacklessFailureConverter();
