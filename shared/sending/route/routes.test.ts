import { expect, it } from '@jest/globals';
import { stsPolicy } from '../../../tests/support/mx-pools.ts';
import type { StsPolicy } from './mta-sts.ts';
import { destinationOf, type MailRoute } from './routes.ts';

const hosts = [
  { name: 'a.mx.test', preference: 10, addresses: ['192.0.2.1'] },
  { name: 'b.mx.test', preference: 20, addresses: ['192.0.2.2'] },
];
const route = (change: Partial<MailRoute> = {}): MailRoute => ({
  domain: 'one.test',
  hosts,
  wantsReports: false,
  ...change,
});
const policy = (change: Partial<StsPolicy> = {}): StsPolicy => ({
  ...(stsPolicy('enforce', 'a.mx.test').policy as StsPolicy),
  ...change,
});

it('domains with the same hosts share a destination where nothing tells them apart', () => {
  expect(destinationOf(route({ domain: 'two.test' }))).toBe(destinationOf(route()));
  expect(destinationOf(route({ hosts: hosts.toReversed() }))).toBe(destinationOf(route()));
});

it('a route that is another one in anything that sessions depend on has another destination', () => {
  const dane = { name: 'a.mx.test', records: [] };
  const routes = [
    route(),
    route({ hosts: hosts.slice(1) }),
    route({ hosts: [{ ...hosts[0]!, preference: 20 }, hosts[1]!] }),
    route({ hosts: [{ ...hosts[0]!, dane }, hosts[1]!] }),
    ...['one.test', 'two.test'].map((domain) => route({ domain, wantsReports: true })),
    ...[false, true].map((wantsReports) => route({ sts: policy(), wantsReports })),
    route({ sts: policy({ id: 'x2' }) }),
    route({ sts: policy({ mode: 'testing' }) }),
    route({ sts: policy({ mx: ['*.mx.test'] }) }),
  ];
  expect(new Set(routes.map(destinationOf)).size).toBe(routes.length);
});
