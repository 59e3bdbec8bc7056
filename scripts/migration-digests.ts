import { createHash } from 'node:crypto';
import type { SchemaMigration } from '../shared/domain/schema/migrations.ts';

/** The statements of a migration, without running them. */
export function statementsOf({ class: migration }: SchemaMigration): string {
  const statements: string[] = [];
  const { prototype } = migration as { prototype: InstanceType<typeof migration> };
  const addSql = (text: string) => void statements.push(text);
  void Object.assign(Object.create(prototype) as typeof prototype, { addSql }).up();
  return statements.join(';\n');
}

/** SHA-256 of the statements of each migration, by its name. */
export function digestsOf(migrations: readonly SchemaMigration[]): Record<string, string> {
  const digestOf = (migration: SchemaMigration) => createHash('sha256').update(statementsOf(migration)).digest('hex');
  return Object.fromEntries(migrations.map((migration) => [migration.name, digestOf(migration)]));
}
