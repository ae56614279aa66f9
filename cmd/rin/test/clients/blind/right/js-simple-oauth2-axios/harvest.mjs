// simple-oauth2 for the token, axios with axios-retry for the calls, an interceptor for 401.
import axios from 'axios'
import axiosRetry from 'axios-retry'
import { ClientCredentials } from 'simple-oauth2'

const env = process.env
const tokenUrl = new URL(env.RIN_TOKEN_URL)
const oauth = new ClientCredentials({
  client: { id: env.RIN_CLIENT_ID, secret: env.RIN_CLIENT_SECRET },
  auth: { tokenHost: tokenUrl.origin, tokenPath: tokenUrl.pathname },
  options: { authorizationMethod: 'body' },
})

let token
async function fetchToken() {
  for (let attempt = 0; ; attempt++) {
    try {
      token = await oauth.getToken({})
      return
    } catch (error) {
      const status = error.output?.statusCode ?? 0
      if (attempt === 4 || (status >= 400 && status < 500 && status !== 429)) throw error
      const after = Number(error.data?.headers?.['retry-after'] ?? error.data?.res?.headers?.['retry-after'])
      await new Promise((done) => setTimeout(done, after ? after * 1000 : 1000 * 2 ** attempt))
    }
  }
}

const api = axios.create({ timeout: 20000 })
axiosRetry(api, {
  retries: 5,
  retryDelay: axiosRetry.exponentialDelay,
  retryCondition: (error) =>
    axiosRetry.isNetworkOrIdempotentRequestError(error) || error.response?.status === 429 || error.code === 'ECONNRESET',
})
api.interceptors.request.use(async (config) => {
  if (!token || token.expired(5)) await fetchToken()
  config.headers.Authorization = `Bearer ${token.token.access_token}`
  return config
})
api.interceptors.response.use(undefined, async (error) => {
  if (error.response?.status === 401 && !error.config.renewed) {
    await fetchToken()
    return api.request({ ...error.config, renewed: true })
  }
  throw error
})

const fundings = []
for (let skip = 0; ; skip += 75) {
  const { data, headers } = await api.get(env.RIN_FUNDINGS_URL, { params: { 'page[page]': skip, 'page[size]': 75 } })
  if (!Array.isArray(data)) throw new Error('the answer is not a list')
  fundings.push(...data)
  if (!/rel="next"/.test(headers.link ?? '')) break
}
console.log(`${fundings.length} fundings`)
