import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';

/** A span as a collector gets it; ids in hexadecimal digits, `parentSpanId` is empty for a root. */
export interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  attributes: Record<string, string | number | boolean>;
  links: { traceId: string; spanId: string }[];
  hasFailed: boolean;
}

export interface TraceCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans: () => CollectedSpan[];
  /** The spans of a trace, by name; several of one name in the order of their arrival. */
  traceOf: (traceId: string) => Map<string, CollectedSpan[]>;
  /** All octets that were sent to the collector. */
  bytes: () => Buffer;
  connectionCount: () => number;
  close: () => Promise<void>;
}

/** The parts of the OTLP schema that tests look at. */
const SCHEMA = `
syntax = "proto3";
message Export { repeated ResourceSpans resourceSpans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5;
  repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
}
message Link { bytes traceId = 1; bytes spanId = 2; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; }
}
`;
const exportType = protobuf.parse(SCHEMA).root.lookupType('Export');
const STATUS_ERROR = 2;

interface KeyValue {
  key: string;
  value?: Record<string, string | number | boolean>;
}

interface ExportRequest {
  resourceSpans?: {
    resource?: { attributes?: KeyValue[] };
    scopeSpans?: { spans?: any[] }[];
  }[];
}

/** Ids are bytes in protobuf, and hexadecimal digits in JSON. */
function hex(id: string | Uint8Array | undefined): string {
  return typeof id === 'string' ? id : Buffer.from(id ?? []).toString('hex');
}

function valuesOf(attributes: KeyValue[] = []): CollectedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value = {} }) => [
      key,
      value['intValue'] === undefined ? Object.values(value)[0]! : Number(value['intValue']),
    ]),
  );
}

function decode(request: IncomingMessage, body: Buffer): ExportRequest {
  if (request.headers['content-type'] === 'application/json') return JSON.parse(body.toString()) as ExportRequest;
  return exportType.toObject(exportType.decode(body), { longs: Number });
}

function spansOf({ resourceSpans = [] }: ExportRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({
        service: String(valuesOf(resource?.attributes)['service.name']),
        name: span.name,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        attributes: valuesOf(span.attributes),
        links: (span.links ?? []).map((link: any) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
        hasFailed: span.status?.code === STATUS_ERROR,
      })),
    ),
  );
}

/** Starts a collector of traces (OTLP over HTTP) on this machine. With `hangs` it never answers. */
export async function startTraceCollector({ hangs = false } = {}): Promise<TraceCollector> {
  const bodies: Buffer[] = [];
  const spans: CollectedSpan[] = [];
  let connectionCount = 0;
  const server = createServer((request, response) => {
    if (hangs) return;
    void buffer(request).then((body) => {
      bodies.push(body);
      spans.push(...spansOf(decode(request, body)));
      response.end();
    });
  });
  server.on('connection', () => (connectionCount += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    traceOf: (traceId) =>
      Map.groupBy(
        spans.filter((span) => span.traceId === traceId),
        ({ name }) => name,
      ),
    bytes: () => Buffer.concat(bodies),
    connectionCount: () => connectionCount,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
