// Contract tests of an importer, run against the node each night: node --test. They look at shapes, not at numbers.
import { test, before } from 'node:test';
import assert from 'node:assert/strict';

const E = process.env, home = new URL(E.RIN_FUNDINGS_URL);
let token, broken = null, sample;

async function send(url, init = {}) {
  for (let i = 0; i < 5; i++) {
    const r = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(25000), ...init });
    if (r.status !== 429 && r.status !== 503) return r;
    await r.text();
    const v = r.headers.get('retry-after');
    const s = v === null ? 2 : /^\d+$/.test(v) ? +v : (Date.parse(v) - Date.parse(r.headers.get('date'))) / 1000;
    assert.ok(s <= 15, `the node asks for a pause of ${s} s`);
    await new Promise(ok => setTimeout(ok, Math.max(s, 0.5) * 1000 + 50));
  }
  assert.fail('busy five times');
}
async function login() {
  const r = await send(E.RIN_TOKEN_URL, { method: 'POST', body: new URLSearchParams({
    grant_type: 'client_credentials', client_id: E.RIN_CLIENT_ID, client_secret: E.RIN_CLIENT_SECRET }) });
  assert.equal(r.status, 200);
  token = (await r.json()).access_token;
  assert.equal(typeof token, 'string');
}
async function get(url, headers = {}) {
  if (broken) throw new Error('skipped: ' + broken);
  assert.equal(new URL(url).origin, home.origin, 'the token is for one node');
  let r = await send(url, { headers: { ...headers, authorization: `Bearer ${token}` } });
  if (r.status === 401) {
    await login();
    r = await send(url, { headers: { ...headers, authorization: `Bearer ${token}` } });
    if (r.status === 401) broken = 'a new token is refused, too';
  }
  return r;
}
before(login);

test('info names the list', async () => {
  const r = await get(E.RIN_INFO_URL);
  assert.equal(r.status, 200);
  const all = Object.values((await r.json()).endpoints).flat();
  assert.ok(all.some(e => e.name === 'FUNDINGS'));
});
test('programmes have ids and names, to the last page', async () => {
  const seen = new Set(), ids = new Set(), u = new URL(home);
  u.searchParams.set('fundingType', 'PROGRAMME');
  u.searchParams.set('page[size]', '8');
  for (let url = u.href, skip = 0; url;) {
    assert.ok(!seen.has(url), 'no circle');
    seen.add(url);
    const r = await get(url);
    assert.equal(r.status, 200, `status of ${url}`);
    const rows = await r.json(), link = r.headers.get('link');
    assert.ok(Array.isArray(rows));
    for (const x of rows) {
      assert.match(x.id, /\S/);
      assert.equal(x.type, 'PROGRAMME');
      assert.ok(x.name.length > 0);
      ids.add(x.id);
      sample ??= x;
    }
    const next = link?.match(/<([^>]*)>\s*;\s*rel="?next\b/)?.[1];
    url = next ? new URL(next, url).href : null;
    if (!link && rows.length) { u.searchParams.set('page[page]', skip += 8); url = u.href; }
  }
});
test('a record by its id is that record, and knows its ETag', async t => {
  if (!sample) return t.skip('no record');
  const url = `${home.href.replace(/\/$/, '')}/${encodeURIComponent(sample.id)}`;
  const r = await get(url);
  assert.equal(r.status, 200);
  assert.equal((await r.json()).id, sample.id);
  const etag = r.headers.get('etag');
  if (!etag) return t.diagnostic('no ETag');
  const again = await get(url, { 'if-none-match': etag });
  assert.ok([200, 304].includes(again.status));
  await again.arrayBuffer();
});
