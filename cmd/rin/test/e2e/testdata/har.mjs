// Validates a HAR file by the schema of har-validator; argv: the file.
import { readFileSync } from 'node:fs';
import validator from 'har-validator';

await validator.har(JSON.parse(readFileSync(process.argv[2])));
