import { context, diag, DiagLogLevel, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { redactText } from '../../pure/redact.ts';
import type { Logger } from '../logger.ts';
import { createReminder } from '../reminder.ts';
import { withTimeLimit } from '../time-limit.ts';
import { givenSpanId } from './given-span-id.ts';
import type { TracingConfig } from './tracing-config.ts';

/** The longest wait for the last spans when the process stops. */
const FLUSH_MS = 2_000;

/** The exporter reads `OTEL_EXPORTER_OTLP_…` itself: endpoint, headers, timeout, compression, certificates. */
async function createExporter(protocol: TracingConfig['protocol']): Promise<SpanExporter> {
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return new OTLPTraceExporter();
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** Logs problems, once a minute at most: an unreachable collector would otherwise fill the log. */
function reporterTo(logger: Logger): (error: unknown) => void {
  const isDue = createReminder();
  return (error) => {
    if (!isDue('tracing')) return;
    const message = error instanceof Error ? error.message : String(error);
    // Brackets contain values, such as that of a header with a key.
    const reason = redactText(message.replace(/\(.*\)/s, '(…)'));
    logger.warn({ reason }, 'tracing has a problem; nothing else waits for it');
  };
}

function createIds() {
  const random = new RandomIdGenerator();
  return {
    generateTraceId: () => random.generateTraceId(),
    generateSpanId: () => givenSpanId() ?? random.generateSpanId(),
  };
}

interface SdkOptions {
  protocol: TracingConfig['protocol'];
  /** The name of the process, unless the environment gives one (`OTEL_SERVICE_NAME`). */
  serviceName: string;
}

/**
 * Loads the SDK of OpenTelemetry for this process. The SDK reads the sampler, the limits and the batches from the
 * standard variables (`OTEL_TRACES_SAMPLER`, `OTEL_SPAN_…`, `OTEL_BSP_…`). The resource says nothing about the machine
 * beyond `OTEL_RESOURCE_ATTRIBUTES`.
 * @returns the function that sends the remaining spans, for two seconds at most
 */
export async function startSdk({ protocol, serviceName }: SdkOptions, logger: Logger): Promise<() => Promise<void>> {
  const report = reporterTo(logger);
  const ignore = (): void => undefined;
  const diagnostics = { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(diagnostics, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  setGlobalErrorHandler(report);
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(await createExporter(protocol))],
    idGenerator: createIds(),
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return () => withTimeLimit(provider.shutdown().catch(report), FLUSH_MS, () => undefined);
}
