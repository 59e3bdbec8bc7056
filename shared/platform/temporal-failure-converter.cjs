// Turns messages of failures into payloads, so that the payload codec encrypts them as well. It is CommonJS for the
// same reason as the file below.
const { StacklessFailureConverter } = require('./temporal-plain-failure-converter.cjs');

exports.failureConverter = new StacklessFailureConverter({ encodeCommonAttributes: true });
