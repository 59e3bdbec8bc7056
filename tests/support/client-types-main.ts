import { writeFileSync } from 'node:fs';
import { CLIENT_TYPES_FILE, describeClientTypes } from './client-types.ts';

writeFileSync(CLIENT_TYPES_FILE, await describeClientTypes());
