// Turns messages and stacks of failures into payloads, so that the payload codec encrypts them as well. The SDK loads
// this file by its path: with `require` in a process, and with webpack into the workflow bundle. So it is CommonJS.
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
