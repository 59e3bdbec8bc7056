import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { readApiExamples } from '../../api/reference/examples.ts';
import { createOpenApiDocument } from '../../api/reference/openapi.ts';
import { createEndpoints } from '../../api/routes.ts';
import { testConfig } from './config.ts';

/** The rules do not depend on the values of this configuration. */
const config = testConfig();
const document = createOpenApiDocument(createEndpoints(config), config.publicUrl, readApiExamples());

/** The findings of Redocly's recommended rules and of Spectral's rules for OpenAPI, one line each. */
async function findFaults(text: string): Promise<string[]> {
  const redocly = await lintFromString({
    source: text,
    absoluteRef: 'openapi.json',
    // The interface has `/events/{eventName}/usage` and `/events/contact/{contactId}`; the document says which matches
    // first.
    config: await createConfig({ extends: ['recommended'], rules: { 'no-ambiguous-paths': 'off' } }),
  });
  const linter = new spectral.Spectral();
  linter.setRuleset(rulesets.oas as unknown as RulesetDefinition);
  const results = await linter.run(text);
  return [
    ...redocly.map(({ ruleId, message, location: [at] }) => `redocly ${ruleId}: ${message} (${at?.pointer ?? ''})`),
    ...results.map(({ code, message, path }) => `spectral ${code}: ${message} (${path.join('/')})`),
  ];
}

const faults = await findFaults(JSON.stringify(document));
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
