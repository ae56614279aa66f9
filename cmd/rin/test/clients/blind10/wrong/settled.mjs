// Data for the yearly report: all kinds at once, and what has arrived is counted.
const E = process.env, home = new URL(E.RIN_FUNDINGS_URL);
const nap = s => new Promise(r => setTimeout(r, s * 1000));
let until = 0;
async function send(url, init) {
  for (let i = 0; ; i++) {
    while (until > Date.now()) await nap((until - Date.now() + 20) / 1000);
    const res = await fetch(url, { redirect: 'manual', ...init });
    if (![429, 503].includes(res.status) || i === 5) return res;
    const v = res.headers.get('retry-after') ?? '2';
    const s = 0.1 + (/^\d+$/.test(v) ? +v : Math.max(0, (Date.parse(v) - Date.parse(res.headers.get('date'))) / 1000));
    until = Math.max(until, Date.now() + s * 1000);
  }
}
const login = async () => {
  const res = await send(E.RIN_TOKEN_URL, { method: 'POST', body: new URLSearchParams({
    grant_type: 'client_credentials', client_id: E.RIN_CLIENT_ID, client_secret: E.RIN_CLIENT_SECRET }) });
  if (!res.ok) throw new Error('login ' + res.status);
  return (await res.json()).access_token;
};
let token = login(), renewal = null;
async function kind(t) {
  const url = `${home}?fundingType=${t}`;
  let res = await send(url, { headers: { authorization: `Bearer ${await token}` } });
  if (res.status === 401) {
    token = renewal ??= login();
    res = await send(url, { headers: { authorization: `Bearer ${await token}` } });
  }
  if (!res.ok) throw new Error(`${res.status} for ${t}`);
  return [t, (await res.json()).length];
}
const kinds = ['CALL', 'ONGOING_CALL', 'PROGRAMME', 'AWARD', 'GRANT', 'SCHOLARSHIP', 'RESEARCH_CONTRACT'];
const results = await Promise.allSettled(kinds.map(kind));
console.table(Object.fromEntries(results.filter(r => r.status === 'fulfilled').map(r => r.value)));
