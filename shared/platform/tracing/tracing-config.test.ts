import { expect, it } from '@jest/globals';
import { readConfig } from '../config.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function tracingWith(variables: NodeJS.ProcessEnv) {
  const required = { DATABASE_URL: 'postgres://localhost/everpost', APP_SECRET: 'a secret of at least 32 characters' };
  return readConfig({ ...required, ...variables }).tracing;
}

it.each<[NodeJS.ProcessEnv]>([
  [endpoint],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }],
  [{ OTEL_TRACES_EXPORTER: 'console,otlp', OTEL_SDK_DISABLED: 'no' }],
])('tracing is on with %j', (variables) => {
  expect(tracingWith(variables)).toEqual({ isOn: true, protocol: 'http/protobuf' });
});

it.each<[NodeJS.ProcessEnv]>([
  [{}],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: '' }],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }],
  [{ ...endpoint, OTEL_SDK_DISABLED: 'True' }],
  [{ OTEL_SERVICE_NAME: 'mail', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
])('tracing is off with %j', (variables) => {
  expect(tracingWith(variables)).toEqual({ isOn: false, protocol: 'http/protobuf' });
});

it('tracing prefers the protocol for traces to the general one', () => {
  const protocols = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' };
  expect(tracingWith({ ...endpoint, ...protocols })).toEqual({ isOn: true, protocol: 'http/json' });
});

it.each<[string, NodeJS.ProcessEnv]>([
  ['OTEL_TRACES_EXPORTER', { OTEL_TRACES_EXPORTER: 'zipkin' }],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
])('tracing stays off, with a warning, when %s has an unsupported value', (variable, variables) => {
  const { isOn, warning } = tracingWith(variables);
  expect(isOn).toBe(false);
  expect(warning).toContain(variable);
});
