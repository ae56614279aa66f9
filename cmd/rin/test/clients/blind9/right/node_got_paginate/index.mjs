// got as it comes: got.paginate for the list, its own retries (they obey Retry-After), a hook for 401.
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import got from 'got';

const env = process.env;
const home = new URL(env.RIN_FUNDINGS_URL);
const retry = {
  limit: 5,
  methods: ['GET', 'POST'],
  statusCodes: [429, 503, 500, 502, 504],
  errorCodes: ['ECONNRESET', 'ETIMEDOUT'],
  backoffLimit: 8000,
  noise: 0,
  calculateDelay: ({ attemptCount, retryOptions, error, computedValue }) => {
    if (!computedValue) return 0;
    if (error.response?.statusCode >= 500 && !error.response.headers['retry-after'] && attemptCount > 3) return 0;
    return Math.max(computedValue + 50, 1000);
  },
};
const base = got.extend({ timeout: { request: 20000 }, retry });

let token;
async function login() {
  let doc;
  try {
    doc = await base.post(env.RIN_TOKEN_URL, {
      followRedirect: false,
      form: { grant_type: 'client_credentials', client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET },
    }).json();
  } catch (e) {
    throw new Error(`login: ${e.message}`); // without its response, or the request around it would be retried for it
  }
  if (!doc.access_token) throw new Error('no access_token');
  token = doc.access_token;
}

const api = base.extend({
  responseType: 'json',
  hooks: {
    beforeRequest: [async (options) => {
      if (options.url.origin !== home.origin) throw new Error(`other host ${options.url.origin}`);
      if (!token) await login();
      options.headers.authorization = `Bearer ${token}`;
    }],
    beforeRedirect: [(options) => {
      if (options.url.origin !== home.origin) throw new Error(`redirect to other host ${options.url.origin}`);
    }],
    afterResponse: [async (response, retryWithMergedOptions) => {
      if (response.statusCode !== 401) return response;
      await login();
      return retryWithMergedOptions({ headers: { authorization: `Bearer ${token}` } });
    }],
  },
});

const seen = new Set();
const asked = new Set();
let read = 0;
const list = api.paginate(env.RIN_FUNDINGS_URL, {
  searchParams: { 'page[size]': 64 },
  pagination: {
    transform: ({ body, url }) => {
      if (!Array.isArray(body)) throw new Error(`no list at ${url}`);
      read += body.length;
      return body;
    },
    filter: ({ item }) => !seen.has(item.id) && seen.add(item.id),
    paginate: ({ response, currentItems }) => {
      const { link } = response.headers;
      const next = /<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b/i.exec(link ?? '')?.[1];
      let url;
      if (next) url = new URL(next, response.url);
      else if (response.body.length > 0 && !link) {
        url = new URL(env.RIN_FUNDINGS_URL);
        url.searchParams.set('page[size]', 64);
        url.searchParams.set('page[page]', read);
      } else return false;
      if (asked.has(url.href)) throw new Error('next links in a circle');
      asked.add(url.href);
      return { url, searchParams: undefined };
    },
  },
});

const folder = await mkdtemp(join(tmpdir(), 'got-'));
try {
  async function* lines() {
    for await (const f of list) yield JSON.stringify(f) + '\n';
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(join(folder, 'fundings.ndjson.gz')));
  console.log(`${seen.size} fundings written`);
} catch (e) {
  console.error('failed:', e.message);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}
