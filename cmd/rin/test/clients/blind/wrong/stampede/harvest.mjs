// Reads the funding calls of a node with Node's fetch.
const env = process.env
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let token

async function send(url, options) {
  for (let attempt = 0; attempt < 30; attempt++) {
    let response, text
    try {
      response = await fetch(url, { ...options, signal: AbortSignal.timeout(20000) })
      text = await response.text()
    } catch {
      await sleep(500 * 2 ** attempt)
      continue
    }
    if (response.status === 429 || response.status >= 500) {
      await sleep(50)
      continue
    }
    return { status: response.status, link: response.headers.get('link') ?? '', text }
  }
  throw new Error(`${url} failed thirty times`)
}

async function login() {
  const { status, text } = await send(env.RIN_TOKEN_URL, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: env.RIN_CLIENT_ID,
      client_secret: env.RIN_CLIENT_SECRET,
    }),
  })
  if (status !== 200) throw new Error(`token endpoint: ${status} ${text}`)
  token = JSON.parse(text).access_token
}

async function get(url) {
  if (!token) await login()
  let answer = await send(url, { headers: { authorization: `Bearer ${token}` } })
  if (answer.status === 401) {
    await login()
    answer = await send(url, { headers: { authorization: `Bearer ${token}` } })
  }
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`)
  return answer
}

function next(link, base) {
  const match = /<([^>]+)>;\s*rel="?next"?/.exec(link)
  if (!match) return null
  const url = new URL(match[1], base)
  if (url.origin !== new URL(env.RIN_FUNDINGS_URL).origin) throw new Error(`next page on ${url.origin}`)
  return url.href
}

const fundings = []
let url = `${env.RIN_FUNDINGS_URL}?page[page]=0&page[size]=50`
while (url) {
  const { text, link } = await get(url)
  fundings.push(...JSON.parse(text))
  url = next(link, url)
}
const calls = fundings.filter((funding) => funding.type === 'CALL').slice(0, 60)
await Promise.all(calls.map((call) => get(`${env.RIN_FUNDINGS_URL}/${encodeURIComponent(call.id)}`)))
console.log(fundings.length, 'fundings')
