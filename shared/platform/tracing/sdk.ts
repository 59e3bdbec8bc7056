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
import { withTimeLimit } from '../time-limit.ts';
import { givenSpanId } from './given-span-id.ts';
import type { TracingConfig } from './tracing-config.ts';

/** A collector that is away would otherwise fill the log. */
const LOG_PAUSE_MS = 60_000;
/** Longest wait for the last spans when the process stops. */
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

function reporterTo(logger: Logger): (error: unknown) => void {
  let nextAt = 0;
  return (error) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + LOG_PAUSE_MS;
    const message = error instanceof Error ? error.message : String(error);
    // In brackets stand values, such as that of a header with a key.
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
  /** Unless the environment names the process (`OTEL_SERVICE_NAME`). */
  serviceName: string;
}

/**
 * Loads the SDK of OpenTelemetry for this process. The sampler, the limits and the batches follow the standard variables
 * (`OTEL_TRACES_SAMPLER`, `OTEL_SPAN_…`, `OTEL_BSP_…`), which the SDK reads. The resource tells nothing of the machine
 * but what `OTEL_RESOURCE_ATTRIBUTES` says.
 * @returns sends what is left, for two seconds at most
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
