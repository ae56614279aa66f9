// undici with its retry interceptor; the list, then the details of thirty calls with p-limit, five at a time.
import { Agent, interceptors, request } from 'undici'
import pLimit from 'p-limit'

const { RIN_TOKEN_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET, RIN_FUNDINGS_URL } = process.env
const dispatcher = new Agent({ headersTimeout: 60000, connect: { timeout: 60000 } }).compose(interceptors.retry({
  maxRetries: 6,
  minTimeout: 500,
  methods: ['GET', 'POST'],
  statusCodes: [429, 500, 502, 503, 504],
}))

let pending
function token() {
  pending ??= fetchToken()
  return pending
}

async function fetchToken() {
  const { statusCode, body } = await request(RIN_TOKEN_URL, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET,
    }).toString(),
  })
  if (statusCode !== 200) throw new Error(`token endpoint: ${statusCode}`)
  return (await body.json()).access_token
}

async function get(url) {
  return (await answer(url)).body
}

async function answer(url) {
  for (let renewed = false; ; renewed = true) {
    const used = pending ?? token()
    const { statusCode, headers, body } = await request(url, {
      dispatcher, headers: { authorization: `Bearer ${await used}` },
    })
    if (statusCode === 200) return { body: await body.json(), more: /rel="next"/.test(headers.link ?? '') }
    await body.dump()
    if (statusCode !== 401 || renewed) throw new Error(`${url}: ${statusCode}`)
    if (pending === used) pending = undefined // the first of several calls renews, the others wait for it
  }
}

const calls = []
for (let skip = 0, more = true; more; skip += 100) {
  const page = await answer(`${RIN_FUNDINGS_URL}?page%5Bpage%5D=${skip}&page%5Bsize%5D=100`)
  calls.push(...page.body.filter((funding) => funding.type === 'CALL'))
  more = page.more
}
const interesting = calls.slice(0, 30)
const limit = pLimit(5)
const details = await Promise.all(interesting.map(({ id }) =>
  limit(() => get(`${RIN_FUNDINGS_URL}/${encodeURIComponent(id)}`))))
console.log(details.map((detail) => detail.id).length)
