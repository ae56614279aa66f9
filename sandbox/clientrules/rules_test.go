package clientrules_test

import (
	"net/http"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/fault"
)

// second returns the credentials of the second node, which differ from those of the first.
func (b *caller) second() sandbox.Credential { return b.Nodes()[1].Credentials()[0] }

var _ = DescribeTable("A client that", func(want clientrules.ID, misbehave func(*caller)) {
	for _, preset := range sandbox.Presets() {
		b := newCaller(func(c *sandbox.Config) { c.Preset, c.TokenFormat = preset, auth.ES256 }) // RSA keys take long to make
		misbehave(b)
		Expect(b.brokenRules()).To(Equal([]clientrules.ID{want}), preset.Name)
		first := b.judge().Clients[0].Findings[0]
		Expect(first.Seen[0].Entries).NotTo(BeEmpty())
		Expect(first.Curl).To(HavePrefix("curl "))
	}
},
	Entry("fetches a token for each call", clientrules.ID("CLT-01"), func(b *caller) {
		for range 3 {
			b.get(infoPath, b.token())
		}
	}),
	Entry("sends a refused token again and again", clientrules.ID("CLT-02"), func(b *caller) {
		for range 4 {
			b.get(infoPath, "eyJ.dead.token")
		}
		b.token()
	}),
	Entry("stops when its token expires", clientrules.ID("CLT-03"), func(b *caller) {
		token := b.token()
		b.get(infoPath, token)
		Expect(b.Clock().Move(time.Hour)).To(Succeed())
		b.get(infoPath, token)
	}),
	Entry("takes the token of a node to another node", clientrules.ID("CLT-04"), func(b *caller) {
		b.get("/xb"+infoPath, b.token())
	}),
	Entry("takes a token of a node to the other environment beside it", clientrules.ID("CLT-04"), func(b *caller) {
		b.get("/elsewhere"+infoPath, b.token())
	}),
	Entry("takes a token of another environment to a node", clientrules.ID("CLT-04"), func(b *caller) {
		b.client = b.Nodes()[0].ElsewhereClient()
		answer := b.ask("/elsewhere/oauth/token", b.form())
		Expect(answer.status).To(Equal(200))
		b.get(infoPath, accessToken(answer))
	}),
	Entry("takes its token to the registry", clientrules.ID("CLT-04"), func(b *caller) {
		Expect(b.get("/registry/registry.json", b.token()).status).To(Equal(http.StatusOK))
	}),
	Entry("repeats a wrong secret", clientrules.ID("CLT-05"), func(b *caller) {
		b.client.Secret = b.second().Secret
		for range 3 {
			b.ask(b.tokenPath, b.form())
		}
	}),
	Entry("puts its secret into a URL", clientrules.ID("CLT-06"), func(b *caller) {
		b.send(http.MethodPost, b.tokenPath+"?"+b.form().Encode(), "", func(h http.Header) { h.Set("Content-Type", formType) })
	}),
	Entry("puts its token into a URL", clientrules.ID("CLT-07"), func(b *caller) {
		b.get(infoPath+"?access_token="+b.token(), "")
	}),
	Entry("sends its credentials to the API", clientrules.ID("CLT-08"), func(b *caller) {
		b.send(http.MethodGet, infoPath, "", func(h http.Header) {
			h["Authorization"] = basic(b.client)
		})
	}),
	Entry("sends its secret instead of a token", clientrules.ID("CLT-08"), func(b *caller) {
		b.get(infoPath, b.token())
		b.get(infoPath, b.client.Secret)
		b.token()
	}),
	Entry("sends its secret to the API in a header of its own", clientrules.ID("CLT-08"), func(b *caller) {
		b.send(http.MethodGet, infoPath, "", func(h http.Header) {
			h.Set("Authorization", "Bearer "+b.token())
			h.Set("X-Client-Secret", b.client.Secret)
		})
	}),
	Entry("sends its secret to the API in a header that does not say so", clientrules.ID("CLT-08"), func(b *caller) {
		b.send(http.MethodGet, infoPath, "", func(h http.Header) {
			h.Set("Authorization", "Bearer "+b.token())
			h.Set("X-Consumer", b.client.Secret)
		})
	}),
	Entry("sends its token to the target of a redirect", clientrules.ID("CLT-09"), func(b *caller) {
		token := b.token()
		elsewhere := "http://localhost" + b.url[len("http://127.0.0.1"):]
		b.script(status(http.StatusTemporaryRedirect, "Location", elsewhere+infoPath))
		b.get(infoPath, token)
		b.get(elsewhere+infoPath, token)
	}),
	Entry("follows the redirect of a scenario to another host", clientrules.ID("CLT-09"), func(b *caller) {
		token := b.token()
		Expect(b.Nodes()[0].Play(fault.Play{Name: "moved-host"})).To(Succeed())
		moved := b.get(infoPath, token)
		Expect(moved.status).To(Equal(http.StatusTemporaryRedirect))
		Expect(b.get(moved.header.Get("Location"), token).status).To(Equal(http.StatusOK))
	}),
	Entry("asks for a token with PUT", clientrules.ID("CLT-10"), func(b *caller) {
		b.send(http.MethodPut, b.tokenPath, b.form().Encode(), func(h http.Header) { h.Set("Content-Type", formType) })
	}),
	Entry("asks for a token in JSON", clientrules.ID("CLT-11"), func(b *caller) {
		b.send(http.MethodPost, b.tokenPath, `{"grant_type":"client_credentials"}`, nil)
	}),
	Entry("forgets the Content-Type of a form", clientrules.ID("CLT-11"), func(b *caller) {
		b.send(http.MethodPost, b.tokenPath, b.form().Encode(), func(h http.Header) { h.Del("Content-Type") })
	}),
	Entry("asks for another grant", clientrules.ID("CLT-12"), func(b *caller) {
		form := b.form()
		form.Set("grant_type", "password")
		b.ask(b.tokenPath, form)
	}),
	Entry("forgets its secret", clientrules.ID("CLT-12"), func(b *caller) {
		form := b.form()
		form.Del("client_secret")
		b.ask(b.tokenPath, form)
	}),
	Entry("asks an unknown realm for a token", clientrules.ID("CLT-13"), func(b *caller) {
		b.ask("/realms/master/protocol/openid-connect/token", b.form())
	}),
	Entry("builds the path of the token endpoint itself", clientrules.ID("CLT-13"), func(b *caller) {
		b.ask("/ris-synergy/oauth/token", b.form())
	}),
	Entry("forgets the word Bearer", clientrules.ID("CLT-14"), func(b *caller) {
		token := b.token()
		b.send(http.MethodGet, infoPath, "", func(h http.Header) { h.Set("Authorization", token) })
	}),
	Entry("has the word Bearer twice", clientrules.ID("CLT-14"), func(b *caller) { b.get(infoPath, "Bearer "+b.token()) }),
	Entry("puts its token in quotes", clientrules.ID("CLT-14"), func(b *caller) { b.get(infoPath, `"`+b.token()+`"`) }),
	Entry("sends two tokens", clientrules.ID("CLT-14"), func(b *caller) {
		token := b.token()
		b.send(http.MethodGet, infoPath, "", func(h http.Header) { h["Authorization"] = []string{"Bearer " + token, "Bearer " + token} })
	}),
	Entry("forgets its token", clientrules.ID("CLT-15"), func(b *caller) {
		b.token()
		b.get(listPath, "")
	}),
	Entry("repeats a call for which it lacks the role", clientrules.ID("CLT-16"), func(b *caller) {
		b.client = b.Nodes()[0].Credentials()[1]
		token := b.token()
		for range 3 {
			b.get(listPath, token)
		}
	}),
	Entry("comes back before the seconds in Retry-After", clientrules.ID("CLT-17"), func(b *caller) {
		token := b.token()
		b.script(status(http.StatusTooManyRequests, "Retry-After", "5"))
		b.get(listPath, token)
		Expect(b.Clock().Move(2 * time.Second)).To(Succeed())
		b.get(listPath, token)
	}),
	Entry("comes back before the date in Retry-After", clientrules.ID("CLT-17"), func(b *caller) {
		token := b.token()
		b.script(status(http.StatusServiceUnavailable, "Retry-After", "Mon, 02 Mar 2026 12:00:00 GMT"))
		b.get(listPath, token)
		b.get(listPath, token)
	}),
	Entry("repeats failed calls without a pause", clientrules.ID("CLT-18"), func(b *caller) {
		token, down := b.token(), status(http.StatusServiceUnavailable)
		b.script(down, down, down, down, down, down, down)
		for range 8 {
			b.get(listPath, token)
		}
	}),
	Entry("sends another call before the seconds in Retry-After", clientrules.ID("CLT-17"), func(b *caller) {
		token := b.token()
		b.script(status(http.StatusTooManyRequests, "Retry-After", "5"))
		b.get(listPath, token)
		b.get(infoPath, token)
		Expect(b.Clock().Move(6 * time.Second)).To(Succeed())
		b.get(listPath, token)
	}),
	Entry("repeats a failed call twice at once", clientrules.ID("CLT-18"), func(b *caller) {
		token, down := b.token(), status(http.StatusInternalServerError)
		b.script(down, down, down)
		for range 4 {
			b.get(listPath, token)
		}
	}),
	Entry("sends a value that the document does not have", clientrules.ID("CLT-19"), func(b *caller) {
		b.get(listPath+"?region=MARS", b.token())
	}),
	Entry("mistypes a parameter", clientrules.ID("CLT-20"), func(b *caller) {
		b.get(listPath+"?runningcalls=true", b.token())
	}),
	Entry("posts to the list", clientrules.ID("CLT-21"), func(b *caller) {
		token := b.token()
		b.send(http.MethodPost, listPath, "{}", func(h http.Header) { h.Set("Authorization", "Bearer "+token) })
	}),
	Entry("guesses an address", clientrules.ID("CLT-22"), func(b *caller) {
		b.get("/ris/funding/v2/fundings", b.token())
	}),
	Entry("takes a failed page for the end of the list", clientrules.ID("CLT-23"), func(b *caller) {
		token := b.token()
		b.script(nil, status(http.StatusBadGateway))
		b.page(0, token)
		b.page(10, token)
		b.get(infoPath, token)
	}),
	Entry("takes an incomplete page for the end of the list", clientrules.ID("CLT-23"), func(b *caller) {
		token := b.token()
		b.script(nil, cut)
		b.page(0, token)
		b.page(10, token)
	}),
	Entry("skips a page whose body is not complete", clientrules.ID("CLT-23"), func(b *caller) {
		token := b.token()
		Expect(b.Nodes()[0].Play(fault.Play{Name: "truncated-json", Path: "list"})).To(Succeed())
		b.readOn(0, 10, token)
	}),
	Entry("reads only a part of a failed page again", clientrules.ID("CLT-23"), func(b *caller) {
		token := b.token()
		b.script(nil, status(http.StatusInternalServerError))
		b.page(0, token)
		b.page(10, token)
		b.get(listPath+"?page[page]=10&page[size]=5", token)
		b.readOn(20, 10, token)
	}),
	Entry("takes an empty page with a link for the end", clientrules.ID("CLT-26"), func(b *caller) {
		token := b.token()
		Expect(b.Nodes()[0].Play(fault.Play{Name: "empty-page"})).To(Succeed())
		Expect(b.page(0, token).items()).To(BeZero())
	}),
	Entry("takes an offset for a page number", clientrules.ID("CLT-30"), func(b *caller) { b.readOn(0, 1, b.token()) }),
	Entry("skips every other page", clientrules.ID("CLT-30"), func(b *caller) { b.readOn(0, 20, b.token()) }),
	Entry("sends its filter with the first page only", clientrules.ID("CLT-30"), func(b *caller) {
		token := b.token()
		b.get(listPath+"?page[page]=0&page[size]=10&fundingType=CALL", token)
		b.readOn(10, 10, token)
	}),
	Entry("begins after the first record", clientrules.ID("CLT-30"), func(b *caller) { b.readOn(1, 10, b.token()) }),
	Entry("fetches one token after the other although all are refused", clientrules.ID("CLT-31"), func(b *caller) {
		Expect(b.Nodes()[0].Play(fault.Play{Name: "wrong-aud", Times: 3})).To(Succeed())
		for range 3 {
			Expect(b.get(infoPath, b.token()).status).To(Equal(401))
		}
	}),
	Entry("gives up in spite of Retry-After", clientrules.ID("CLT-33"), func(b *caller) {
		token := b.token()
		b.script(status(http.StatusTooManyRequests, "Retry-After", "5"))
		b.get(listPath, token)
		Expect(b.Clock().Move(10 * time.Second)).To(Succeed())
		b.get(infoPath, token)
	}),
	Entry("reads past the end", clientrules.ID("CLT-24"), func(b *caller) {
		token := b.token()
		for offset := 0; b.page(offset, token).items() > 0; offset += 10 {
		}
	}),
	Entry("reads one page again and again", clientrules.ID("CLT-25"), func(b *caller) {
		token := b.token()
		for range 4 {
			b.page(0, token)
		}
	}),
	Entry("stops before the last page", clientrules.ID("CLT-26"), func(b *caller) {
		token := b.token()
		b.page(0, token)
		b.page(10, token)
	}),
	Entry("takes a short page with a link for the end", clientrules.ID("CLT-26"), func(b *caller) {
		Expect(b.Nodes()[0].Play(fault.Play{Name: "short-page"})).To(Succeed())
		Expect(b.page(0, b.token()).items()).To(Equal(5))
	}),
	Entry("reads the first page only", clientrules.ID("CLT-35"), func(b *caller) { b.page(0, b.token()) }),
	Entry("fetches each record of the list again", clientrules.ID("CLT-36"), func(b *caller) {
		token := b.token()
		for _, id := range regexp.MustCompile(`"id":"(XF-\d+)"`).FindAllSubmatch(b.get(listPath, token).body, -1) {
			b.get(listPath+"/"+string(id[1]), token)
		}
	}),
	Entry("reads a list record by record", clientrules.ID("CLT-37"), func(b *caller) {
		token := b.token()
		for path := listPath + "?page[page]=0&page[size]=1"; path != ""; {
			path = next(path, b.get(path, token).header.Get("Link"))
		}
	}),
	Entry("repeats what was not found", clientrules.ID("CLT-39"), func(b *caller) {
		token := b.token()
		for range 3 {
			b.get(listPath+"/XF-99999999", token)
		}
	}),
	Entry("takes its token to the host that a link names", clientrules.ID("CLT-40"), func(b *caller) {
		token := b.token()
		Expect(b.Nodes()[0].Play(fault.Play{Name: "next-on-other-host"})).To(Succeed())
		link := b.page(0, token).header.Get("Link")
		Expect(link).To(ContainSubstring("<http://localhost:"))
		other := "http://localhost" + b.url[len("http://127.0.0.1"):]
		for path := next(listPath, link); path != ""; {
			path = next(path, b.get(other+path, token).header.Get("Link"))
		}
	}),
	Entry("asks again and again without a pause whether a record has changed", clientrules.ID("CLT-41"), func(b *caller) {
		token := b.token()
		tag := b.get(listPath+"/XF-00000002", token).header.Get("ETag")
		for range 30 {
			b.send(http.MethodGet, listPath+"/XF-00000002", "", func(h http.Header) {
				h.Set("Authorization", "Bearer "+token)
				h.Set("If-None-Match", tag)
			})
		}
	}),
	Entry("begins the list again when a later page fails", clientrules.ID("CLT-42"), func(b *caller) {
		token := b.token()
		b.script(nil, nil, status(http.StatusInternalServerError))
		for offset := range 3 {
			b.page(offset*10, token)
		}
		Expect(b.Clock().Move(2 * time.Second)).To(Succeed())
		b.readOn(0, 10, token)
	}),
	Entry("encodes the query of a link twice", clientrules.ID("CLT-43"), func(b *caller) {
		token := b.token()
		b.get(listPath, token)
		b.get(listPath+"?page%255Bpage%255D=10&page%255Bsize%255D=10", token)
	}),
	Entry("encodes a value twice", clientrules.ID("CLT-43"), func(b *caller) {
		b.get(listPath+"?region=AT%252D9", b.token())
	}),
	Entry("sends a wrong value with a percent sign of its own", clientrules.ID("CLT-19"), func(b *caller) {
		b.get(listPath+"?region=50%25ab+off", b.token())
	}),
	Entry("takes the 304 of the first page for the whole list", clientrules.ID("CLT-44"), func(b *caller) {
		token := b.token()
		tag := b.page(0, token).header.Get("ETag")
		b.readOn(10, 10, token)
		Expect(b.Clock().Move(time.Minute)).To(Succeed())
		Expect(b.getIf(firstPage, token, "If-None-Match", tag).status).To(Equal(http.StatusNotModified))
	}),
	Entry("sends HEAD before each GET", clientrules.ID("CLT-45"), func(b *caller) {
		token := b.token()
		for path := firstPage; path != ""; {
			b.send(http.MethodHead, path, "", func(h http.Header) { h.Set("Authorization", "Bearer "+token) })
			path = next(path, b.get(path, token).header.Get("Link"))
		}
	}),
	Entry("makes its own If-Modified-Since", clientrules.ID("CLT-46"), func(b *caller) {
		b.getIf(listPath, b.token(), "If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 +0000")
	}),
	Entry("opens the quotes of an ETag and forgets to close them", clientrules.ID("CLT-34"), func(b *caller) {
		b.getIf(listPath, b.token(), "If-None-Match", `"abc`)
	}),
	Entry("escapes the quotes of an ETag", clientrules.ID("CLT-34"), func(b *caller) {
		b.getIf(listPath, b.token(), "If-None-Match", `"\"abc\""`)
	}),
	Entry("puts an ETag into quotes again", clientrules.ID("CLT-34"), func(b *caller) {
		b.getIf(listPath, b.token(), "If-None-Match", `"a", ""abc""`)
	}),
	Entry("reads XML only", clientrules.ID("CLT-27"), func(b *caller) {
		b.header.Set("Accept", "text/xml, application/json;q=0")
		b.get(listPath, b.token())
	}),
	Entry("omits the Content-Type of the info call", clientrules.ID("CLT-28"), func(b *caller) {
		b.header.Del("Content-Type")
		b.get(infoPath, b.token())
	}),
	Entry("sends no User-Agent", clientrules.ID("CLT-29"), func(b *caller) {
		b.header["User-Agent"] = []string{""}
		b.get(infoPath, b.token())
	}),
)
