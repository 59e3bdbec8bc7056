// Health check of a container: ends with 0 when HEALTH_URL answers with success, else with 1.
const url = process.env.HEALTH_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}/health`;
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  process.exitCode = response.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
