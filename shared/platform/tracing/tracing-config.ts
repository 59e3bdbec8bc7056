import { z } from 'zod';

const text = z.string().optional();

/** The standard variables that decide whether there are traces. OpenTelemetry's SDK reads all others. */
export const tracingVariables = {
  OTEL_TRACES_EXPORTER: text,
  OTEL_EXPORTER_OTLP_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_PROTOCOL: text,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: text,
  OTEL_SDK_DISABLED: text,
};

export interface TracingConfig {
  isOn: boolean;
  protocol: 'http/protobuf' | 'http/json';
  /** Why tracing is off although a variable asks for it. */
  warning?: string;
}

type Variables = { [Name in keyof typeof tracingVariables]?: string | undefined };

function isAsked(variables: Variables): boolean {
  const { OTEL_TRACES_EXPORTER: exporter } = variables;
  if (variables.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  if (exporter !== undefined) return exporter !== 'none';
  return (variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? variables.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
}

/**
 * Reads the variables of tracing. An unsupported value leaves tracing off with a warning, as the standard requires:
 * platforms set these variables for all their processes, and sending email must not fail because of them.
 */
export function tracingOf(variables: Variables): TracingConfig {
  const protocol =
    variables.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? variables.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  const off: TracingConfig = { isOn: false, protocol: 'http/protobuf' };
  if (!isAsked(variables)) return off;
  const exporters = variables.OTEL_TRACES_EXPORTER?.split(',').map((name) => name.trim());
  if (exporters && !exporters.includes('otlp')) {
    return { ...off, warning: 'OTEL_TRACES_EXPORTER is neither otlp nor none: there are no traces' };
  }
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    const variable = 'OTEL_EXPORTER_OTLP_PROTOCOL';
    return { ...off, warning: `${variable} is neither http/protobuf nor http/json: there are no traces` };
  }
  return { isOn: true, protocol };
}
