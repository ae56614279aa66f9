package vendors_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

// product imitates a node that is built from well-known software. It shares no code with the sandbox, because a
// misunderstanding in shared code would stay hidden.
type product struct {
	tokenPath, infoPath, specPath, basePath string
	profile                                 requirement.Profile // funding if empty; "none" leaves the choice to the run
	// serve makes the node; origin is its own scheme and host.
	serve func(origin string, b *accounts) http.Handler
}

// accounts holds the clients and the tokens of one product.
type accounts struct {
	mu     sync.Mutex
	tokens map[string]string // token to client id
}

// The clients of every product; the second has no role at the funding service.
const (
	firstClient, firstSecret   = "research-portal", "8fWq2LzTn6vRk3XbYpD9sHcM"
	secondClient, secondSecret = "campus-app", "Jt5mVx7QaZ4uGe1NwB8oPyKr"
)

func (b *accounts) knows(id string) bool { return id == firstClient || id == secondClient }

func (b *accounts) authenticates(id, secret string) bool {
	return id == firstClient && secret == firstSecret || id == secondClient && secret == secondSecret
}

func (b *accounts) issue(id, token string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens[token] = id
	return token
}

// client returns the client to which a token was issued.
func (b *accounts) client(token string) (id string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, ok = b.tokens[token]
	return id, ok
}

// issueOpaque issues a random token.
func (b *accounts) issueOpaque(id string) string { return b.issue(id, rand.Text()) }

// issueJWT issues a token in the form of a JWT. The node looks it up instead of checking its
// signature.
func (b *accounts) issueJWT(id string, claims map[string]any) string {
	part := func(v any) string {
		text, err := json.Marshal(v)
		Expect(err).NotTo(HaveOccurred())
		return base64.RawURLEncoding.EncodeToString(text)
	}
	head := map[string]any{"alg": "RS256", "typ": "JWT", "kid": "FJ86GcF3jTbNLOco4NvZkUCIUmfYCqoqtOQeMfbhNlE"}
	return b.issue(id, part(head)+"."+part(claims)+"."+base64.RawURLEncoding.EncodeToString([]byte(rand.Text()+rand.Text())))
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, mediaType string, body any) {
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client is gone
}

// urlAt returns the URL of a product's path.
func urlAt(origin, path string) string {
	if path == "" {
		return ""
	}
	return origin + path
}

// certify runs the suite on a product; wrap may be nil.
func (p product) certify(ctx context.Context, wrap func(http.Handler) http.Handler) report.Report {
	GinkgoHelper()
	server := httptest.NewUnstartedServer(nil)
	origin := "http://" + server.Listener.Addr().String()
	server.Config.Handler = p.serve(origin, &accounts{tokens: map[string]string{}})
	if wrap != nil {
		server.Config.Handler = wrap(server.Config.Handler)
	}
	server.Start()
	DeferCleanup(server.Close)
	result, err := conformance.Certify(ctx, target.Target{
		TokenURL: urlAt(origin, p.tokenPath), InfoURL: urlAt(origin, p.infoPath), SpecURL: urlAt(origin, p.specPath), BaseURL: urlAt(origin, p.basePath),
		Profile: strings.TrimPrefix(string(cmp.Or(p.profile, requirement.Funding)), "none"), Seed: 1,
		Credentials: target.Credentials{ClientID: firstClient, ClientSecret: target.NewSecret(firstSecret)},
		Second:      &target.Credentials{ClientID: secondClient, ClientSecret: target.NewSecret(secondSecret)},
	}, conformance.Options{Inputs: conformance.Inputs{Suite: "test"}})
	Expect(err).NotTo(HaveOccurred())
	return result.Report
}

// remarks lists the requirements that neither passed nor are inapplicable, each with its outcome: "TER-02 warn".
func remarks(r report.Report) (short []string, long string) {
	GinkgoHelper()
	var b strings.Builder
	for _, q := range r.Requirements {
		if q.Outcome == requirement.Pass || q.Outcome == requirement.NotApplicable {
			if q.Outcome == requirement.NotApplicable {
				fmt.Fprintf(&b, "    %s %s: %s\n", q.ID, q.Outcome, q.Reason)
			}
			continue
		}
		short = append(short, fmt.Sprintf("%s %s", q.ID, q.Outcome))
		fmt.Fprintf(&b, "    %s %s: %s (expected %s, got %s)\n", q.ID, q.Outcome, q.Reason, q.Expected, q.Got)
		seen := map[string]bool{}
		for _, s := range q.Subjects {
			line := s.Name + " " + s.Expected + " " + s.Got
			Expect(seen).NotTo(HaveKey(line), "%s lists the same subject twice", q.ID)
			seen[line] = true
			fmt.Fprintf(&b, "        %s: expected %s, got %s\n", s.Name, s.Expected, s.Got)
		}
	}
	return short, b.String()
}

var _ = Describe("Nodes of known vendors", func() {
	DescribeTable("are certified, with the warnings that their software earns", func(ctx SpecContext, p product, expected ...string) {
		found := p.certify(ctx, nil)
		short, long := remarks(found)
		GinkgoWriter.Println(long)
		Expect(short).To(Equal(expected), long)
		Expect(found.Verdict.Decision).To(Equal(verdict.Certified), long)
	},
		Entry("Keycloak before Spring Security with springdoc", keycloakAndSpring(),
			"TOK-15 warn", "TER-02 warn", "TER-10 warn", "BRR-05 warn", "SPC-09 warn", "SPC-10 warn", "API-02 warn", "JWT-05 warn", "JWT-07 warn"),
		Entry("Flask with introspected tokens", flask(),
			"TOK-07 warn", "TER-07 warn", "TER-09 warn", "TER-12 warn", "BRR-01 warn", "BRR-13 fail", "BRR-19 warn", "SPC-09 warn", "SPC-10 warn", "API-02 warn", "API-03 warn"),
		Entry("Spring Authorization Server before a small service with a document of version 3.1", springServer(),
			"TOK-13 warn", "TER-04 warn"),
		Entry("a gateway that limits, compresses and redirects", gateway(),
			"TOK-07 warn", "TOK-10 warn", "TER-07 warn", "TER-09 warn", "TER-12 warn", "BRR-04 fail", "BRR-19 warn", "INF-04 warn", "SPC-09 warn"),
	)
})

var _ = Describe("Warnings of known vendors", func() {
	DescribeTable("are grouped into one block for each vendor", func(ctx SpecContext, p product, blocks ...string) {
		found := p.certify(ctx, nil)
		var text strings.Builder
		Expect(report.WriteMarkdown(&text, found)).To(Succeed())
		var titles []string
		for line := range strings.Lines(text.String()) {
			if title, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok && strings.HasSuffix(title, "'s own") {
				titles = append(titles, title)
			}
		}
		Expect(strings.Join(titles, "\n")).To(Equal(strings.Join(blocks, "\n")))
	},
		Entry("Keycloak before Spring Security", keycloakAndSpring(), "5 warnings are Keycloak's own", "1 warning is Spring Security's own"),
		Entry("Spring Authorization Server before another service", springServer(), "1 warning is Spring Authorization Server's own"),
		Entry("Flask, whose warnings are no vendor's own", flask()),
	)
})

// basicClient reads the client of HTTP Basic, whose id and secret are form-encoded (RFC 6749 §2.3.1).
func basicClient(r *http.Request) (id, secret string, given bool) {
	user, password, given := r.BasicAuth()
	id, wrongID := url.QueryUnescape(user)
	secret, wrongSecret := url.QueryUnescape(password)
	return id, secret, given && wrongID == nil && wrongSecret == nil
}

// form returns the parameters in the body of a token request, and none if the body or the query is
// malformed.
func form(r *http.Request) url.Values {
	if r.ParseForm() != nil {
		return url.Values{}
	}
	return r.PostForm
}
