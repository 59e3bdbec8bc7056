import { expect } from '@jest/globals';
import { sql, type Em } from '../../../shared/database/sql.ts';
import type { TestProject } from '../api.ts';
import { untilBlocked } from '../database.ts';
import { eventually } from '../eventually.ts';
import { query } from '../rows.ts';
import { logIn, openClient, submit, type RawClient } from '../submission.ts';
import { addressesOf, expectArrived, PATIENCE_MS, type KillWorld, type Load } from './load.ts';

const contentFor = (to: string) =>
  `From: hello@example.com\nTo: ${to}\nMessage-ID: <${to}>\nSubject: Hello\n\n${'Hello\n'.repeat(2_000)}`;

/** Submits to each address of a list as a mail server does: it sends a message again until it hears 250. */
export async function submitAll(port: number, key: string, queue: string[], isDone?: () => void): Promise<void> {
  let client: RawClient | undefined;
  for (let to = queue.shift(); to !== undefined; to = queue.shift()) {
    const address = to;
    await eventually(async () => {
      if (!client || client.isOver()) client = await logIn(port, key).catch(() => undefined);
      const reply = client ? await submit(client, [address], contentFor(address)) : '';
      // A refusal for good would be a fault of the server.
      if (reply.startsWith('5') && !reply.startsWith('530')) throw new Error(reply);
      if (!reply.startsWith('250')) client?.socket.destroy();
      return reply.startsWith('250');
    }, PATIENCE_MS);
    isDone?.();
  }
  client?.socket.destroy();
}

/** Waits until each message has arrived, and checks that it was stored and sent once. */
export async function expectStoredOnce(world: KillWorld, addresses: string[]): Promise<void> {
  await expectArrived(world, addresses);
  const stored = await query(
    world.em(),
    sql`select count(*)::int as emails from email where to_address = any(${addresses}::text[])`,
  );
  expect(stored).toEqual([{ emails: addresses.length }]);
}

async function submitAgain(world: KillWorld, project: TestProject, addresses: string[]): Promise<void> {
  await Promise.all(addresses.map((address) => submitAll(world.submissionPort, project.keys.secretKey, [address])));
  await expectStoredOnce(world, addresses);
}

const STEPS = ['EHLO', 'MAIL', 'RCPT', 'DATA', 'half', 'answered', 'all'];

/** Clients of which each is at another step of a message. */
export function submissionStepsLoad(world: KillWorld): Load {
  const addresses = STEPS.map((step) => `${step.toLowerCase()}@steps-submitted.test`);
  let project: TestProject;
  return {
    name: 'at each step of a submitted message loses nothing after 250, and its repetition is sent once',
    isHeld: true,
    points: {
      first: {
        async hold() {
          project = await world.createProject();
          const port = world.submissionPort;
          await eventually(() => openClient(port).then((client) => client.said().startsWith('220')), PATIENCE_MS);
          for (const [index, step] of STEPS.entries()) {
            const address = addresses[index]!;
            const content = contentFor(address).replaceAll('\n', '\r\n');
            const client = await logIn(port, project.keys.secretKey);
            const lines = ['MAIL FROM:<a@b.test>', `RCPT TO:<${address}>`, 'DATA'];
            for (const line of lines.slice(0, Math.min(index, 3))) await client.ask(line);
            if (step === 'half') client.write(content.slice(0, 5_000));
            if (step === 'all') client.write(`${content}\r\n.\r\n`);
            if (step === 'answered') expect(await client.ask(`${content}\r\n.`)).toMatch(/^250/);
          }
        },
      },
    },
    check: () => submitAgain(world, project, addresses),
  };
}

/** Messages of several connections that are stored together, and wait for a lock. */
export function submissionGroupLoad(world: KillWorld): Load {
  const addresses = addressesOf(6, 'grouped.test');
  let project: TestProject;
  let blocker: Em;
  let replies: Promise<string>[];
  return {
    name: 'in the middle of a group of messages stores none of them, and their repetitions are stored once',
    isHeld: false,
    points: {
      first: {
        async hold() {
          project = await world.createProject();
          const clients = await Promise.all(addresses.map(() => logIn(world.submissionPort, project.keys.secretKey)));
          blocker = world.em();
          await blocker.begin();
          await query(blocker, sql`lock table email in exclusive mode`);
          replies = clients.map((client, i) => submit(client, [addresses[i]!], contentFor(addresses[i]!)));
          await untilBlocked(() => world.em());
        },
        async letGo() {
          expect((await Promise.all(replies)).filter((reply) => reply.startsWith('250'))).toEqual([]);
          await blocker.rollback();
        },
      },
    },
    check: () => submitAgain(world, project, addresses),
  };
}
