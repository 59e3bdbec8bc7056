import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withFileLock } from '../../local/processes/file-lock.ts';
import { runToEnd } from '../../local/processes/helper-process.ts';
import type { HelperResult } from '../../local/processes/helper-process.ts';
import { cacheDirectory } from '../../shared/platform/paths.ts';
import { findOnPath, isExecutable } from '../../local/temporal/program-search.ts';
import { keepSayingAlive } from '../../local/progress.ts';
import type { Progress } from '../../local/progress.ts';
import { downloadThroughSdk } from '../../local/temporal/sdk-download.ts';

const version = '1.31.0';
const downloadTimeoutMs = 60_000;
const mavenTimeoutMs = 300_000;

/**
 * Finds the Temporal test server that skips time. Looks at TEMPORAL_TEST_SERVER_PATH and the cache, then downloads the
 * server or fetches it from Maven, which needs Java. Resolves to the path of a program for `existing-path`; rejects
 * with the ways to provide it.
 */
export async function resolveTimeSkippingServer(progress: Progress): Promise<string> {
  const named = process.env['TEMPORAL_TEST_SERVER_PATH'];
  if (named) {
    if (!isExecutable(named))
      throw new Error(`TEMPORAL_TEST_SERVER_PATH names ${named}, which is not an executable file.`);
    return path.resolve(named);
  }
  const cached = path.join(cacheDirectory(), 'bin', 'temporal-test-server');
  if (isExecutable(cached)) return cached;
  return withFileLock(
    `${cached}.lock`,
    () => progress('Time-skipping server: another process is fetching it, waiting'),
    async () => {
      if (isExecutable(cached)) return cached;
      progress('Time-skipping server: downloading it (once)');
      if (await downloadThroughSdk('time-skipping', cached, downloadTimeoutMs)) return cached;
      progress('Time-skipping server: the download host could not be reached');
      if (await buildFromMaven(cached, progress)) return cached;
      throw new Error(howToProvide(cached));
    },
  );
}

async function buildFromMaven(destination: string, progress: Progress): Promise<boolean> {
  const [java, maven] = [findOnPath('java'), findOnPath('mvn')];
  if (!java || !maven) return false;
  progress('Time-skipping server: fetching it from Maven instead (once, 33 MB)');
  const libraries = `${destination}-${version}-lib`;
  const building = `${libraries}.new`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  writeFileSync(path.join(building, 'pom.xml'), pom());
  const { code, output } = await keepSayingAlive(progress, 'Time-skipping server: Maven', 15_000, () =>
    runMaven(maven, building),
  );
  if (code !== 0) {
    progress(`Time-skipping server: Maven failed:\n${output.trim().split('\n').slice(-8).join('\n')}`);
    rmSync(building, { recursive: true, force: true });
    return false;
  }
  rmSync(libraries, { recursive: true, force: true });
  renameSync(building, libraries);
  // The server runs for seconds only, and must start quickly even when all cores are busy.
  const flags = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
  const script = `#!/bin/sh\nexec java ${flags} -cp '${path.join(libraries, 'lib')}/*' io.temporal.testserver.TestServer "$@"\n`;
  writeFileSync(`${destination}.new`, script);
  chmodSync(`${destination}.new`, 0o755);
  renameSync(`${destination}.new`, destination);
  return true;
}

function runMaven(maven: string, cwd: string): Promise<HelperResult> {
  const args = ['-q', '-B', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=lib'];
  const child = spawn(maven, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  return runToEnd(child, mavenTimeoutMs);
}

function pom(): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>temporal-test-server-libraries</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${version}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;
}

function howToProvide(cached: string): string {
  return [
    'The tests with virtual time need the Temporal test server, and it could be neither found nor fetched. One of these helps:',
    '  - install Java 17 or newer and Maven; it is then fetched from Maven Central;',
    `  - set TEMPORAL_TEST_SERVER_PATH to the program, or put it at ${cached}`,
    '    (it is part of the releases of https://github.com/temporalio/sdk-java).',
  ].join('\n');
}
