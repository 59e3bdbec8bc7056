#!/bin/sh
# Creates or upgrades both schemas of Temporal. Safe to repeat; an upgrade goes one minor version at a time.
set -eu

for schema in temporal visibility; do
  case "$schema" in
    temporal) database=temporal ;;
    visibility) database=temporal_visibility ;;
  esac
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-name "postgresql/v12/$schema"
done
