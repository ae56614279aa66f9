// Node of the University of Nordmark: identity provider, info endpoint and funding API in one program.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-fuego/fuego"
	"github.com/go-fuego/fuego/option"
)

const (
	prefix  = "/nordmark"
	apiPath = prefix + "/funding/v3"
	infoURL = prefix + "/info/v1/oauth/info/{$}"
)

var variant = os.Getenv("NODE")

type contextKey struct{}

type caller struct {
	account account
	claims  *accessClaims
}

func withAccount(ctx context.Context, a account, claims *accessClaims) context.Context {
	return context.WithValue(ctx, contextKey{}, caller{a, claims})
}

// Info is the answer of the info endpoint.
type Info struct {
	ClientID      string   `json:"clientId"`
	UserID        string   `json:"serviceAccountUserId"`
	AffiliationID string   `json:"affiliationId"`
	Roles         []string `json:"roles"`
	Environment   string   `json:"environment"`
	ExpiresAt     string   `json:"tokenExpiresAt"`

	Endpoints map[string][]Endpoint `json:"endpoints"`
}

// Endpoint is an API of this node.
type Endpoint struct {
	Name         string `json:"name"`
	MajorVersion int    `json:"majorVersion"`
	MinorVersion int    `json:"minorVersion"`
	URL          string `json:"url"`
}

func info(environment, origin string) func(fuego.ContextNoBody) (Info, error) {
	return func(c fuego.ContextNoBody) (Info, error) {
		c.SetHeader("Cache-Control", "no-store")
		who, _ := c.Request().Context().Value(contextKey{}).(caller)
		out := Info{UserID: who.account.UserID, AffiliationID: who.account.Affiliation, Roles: who.account.Roles, Environment: environment,
			Endpoints: map[string][]Endpoint{"funding": {{"FUNDINGS", 3, 2, origin + apiPath + "/calls"}}}}
		if who.claims != nil {
			out.ClientID, out.ExpiresAt = who.claims.ClientID, who.claims.ExpiresAt.UTC().Format("2006-01-02T15:04:05Z")
		}
		return out, nil
	}
}

func readAll(w http.ResponseWriter, r *http.Request, limit int64) (string, error) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	return string(b), err
}

func entityTag(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

func listsTag(header []string, tag string, weak bool) bool {
	for _, t := range strings.Split(strings.Join(header, ","), ",") {
		t = strings.TrimSpace(t)
		if weak {
			t = strings.TrimPrefix(t, "W/")
		}
		if t == "*" || t == tag {
			return true
		}
	}
	return false
}

func withoutFrameworkHeaders(w http.ResponseWriter) {
	for _, name := range []string{"X-Powered-By", "Trailer", "Server-Timing"} {
		w.Header().Del(name)
	}
}

// send is the serializer: JSON with an entity tag and conditional requests (RFC 9110, section 13).
func send(w http.ResponseWriter, r *http.Request, ans any) error {
	withoutFrameworkHeaders(w)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(ans); err != nil {
		return err
	}
	h := w.Header()
	if h.Get("Cache-Control") == "no-store" {
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(buf.Len()))
		_, err := w.Write(buf.Bytes())
		return err
	}
	tag := h.Get("ETag")
	if tag == "" {
		tag = entityTag(buf.Bytes())
		h.Set("ETag", tag)
	}
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Vary", "Accept, Accept-Language")
		h.Set("Content-Language", language(r))
	}
	if match := r.Header.Values("If-Match"); len(match) > 0 && !listsTag(match, tag, false) {
		h.Del("ETag")
		h.Del("Content-Language")
		sendProblem(w, r, fuego.HTTPError{Status: 412, Detail: "the representation has another entity tag"})
		return nil
	}
	if match := r.Header.Values("If-None-Match"); len(match) > 0 && listsTag(match, tag, true) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	if variant == "fuego-leine" && r.ProtoAtLeast(1, 1) {
		h.Set("Link", "<"+prefix+"/funding/v3/api-docs>; rel=\"service-desc\"")
		w.WriteHeader(http.StatusEarlyHints)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// sendProblem is the serializer of errors: problem details (RFC 9457).
func sendProblem(w http.ResponseWriter, r *http.Request, err error) {
	withoutFrameworkHeaders(w)
	problem := fuego.HTTPError{Status: 500, Detail: "the node could not answer"}
	var known fuego.HTTPError
	if errors.As(err, &known) {
		problem = known
	}
	problem.Title = http.StatusText(problem.StatusCode())
	b, _ := json.Marshal(problem)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(problem.StatusCode())
	_, _ = w.Write(b)
}

// outermost answers paths that are not canonical, and panics.
func outermost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				sendProblem(w, r, errors.New("panic"))
			}
		}()
		w.Header().Set("X-Content-Type-Options", "nosniff")
		p := r.URL.EscapedPath()
		if clean := path.Clean(p); p == "" || p[0] != '/' || (clean != p && clean+"/" != p) {
			sendProblem(w, r, fuego.HTTPError{Status: 404, Detail: "there is nothing at this address"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// jsonOnly refuses clients that do not take JSON.
func jsonOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !acceptsJSON(r) {
			sendProblem(w, r, fuego.HTTPError{Status: 406, Detail: "this address answers with application/json only"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// others answers the methods that a path does not have.
func others(s *fuego.Server, path string, allow string) {
	fuego.AllStd(s, path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		sendProblem(w, r, fuego.HTTPError{Status: 405, Detail: "this address allows " + allow})
	}, option.Hide())
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	origin := "http://127.0.0.1:" + port
	production := newEnvironment("production", origin+"/sso/realms/nordmark")
	production.add("nm-forschungsservice", "Ebbe+Flut/7%&Deich=Krone~!:Kk9vQ2xWz4Rt8Ly1Bn6Mj3Hs5Dp0Fc+Gu7Ta2Xe9Zo4Iw8Sq1Vb", apiAudience, "svc-5b0e7d12", "AFF-0417", apiRole)
	production.add("nm-bibliothek", "Buch=Regal&3/Leihe+Frist%25~!:Pm4Xc8Jd2Lw6Rz0Tk5Yb9Hq3Fs7Ng1Va+Ei4Uo8Cx2Dw6Bt0Kr5", apiAudience, "svc-91c4a0f7", "AFF-0417")
	production.add("nm-raumbuchung", "Saal&Pult=%2F+Kreide/9~!:Zt7Hn3Qk1Wd5Xs9Lg2Vc6Rb0Jf4My8Pa+To1Eu5Ii9Oz3Kx7Dq2Sw6", "urn:nordmark:raumbuchung", "svc-c27f3e88", "AFF-0420", apiRole)
	production.add("nm-pruefstand", "Mess%Wert+Reihe/=&42~!:Qa2Ws4Ed6Rf8Tg0Yh1Uj3Ik5Ol7Pz9Xc+Vb2Nm4Kl6Jh8Gf0Ds1Ap3", apiAudience, "svc-0da9e641", "AFF-0433", apiRole)
	staging := newEnvironment("staging", origin+"/sso-staging")
	staging.add("nm-probe", "Probe/Lauf=%7E&Netz+~!:Gh5Jk7Lz9Xc1Vb3Nm5Qw7Er9Ty1Ui3Op+As5Df7", apiAudience, "svc-test-01", "AFF-TEST", apiRole)

	s := fuego.NewServer(
		fuego.WithAddr("127.0.0.1:"+port),
		fuego.WithoutLogger(),
		fuego.WithoutStartupMessages(),
		fuego.WithoutAutoGroupTags(),
		fuego.WithLoggingMiddleware(fuego.LoggingConfig{DisableRequest: true, DisableResponse: true}),
		fuego.WithGlobalMiddlewares(outermost),
		fuego.WithSerializer(send),
		fuego.WithErrorSerializer(sendProblem),
		fuego.WithEngineOptions(
			fuego.WithResponseContentType("application/json"),
			fuego.WithOpenAPIConfig(fuego.OpenAPIConfig{Disabled: true, DisableLocalSave: true, DisableDefaultServer: true,
				Info: &openapi3.Info{Title: "Funding calls of the University of Nordmark", Version: "3.2.0", Description: documentText}}),
		),
		fuego.WithSecurity(openapi3.SecuritySchemes{"nordmark": &openapi3.SecuritySchemeRef{Value: &openapi3.SecurityScheme{
			Type: "oauth2", Flows: &openapi3.OAuthFlows{ClientCredentials: &openapi3.OAuthFlow{
				TokenURL: production.issuer + "/protocol/openid-connect/token",
				Scopes:   openapi3.StringMap{apiScope: "read funding calls"}}}}}}),
	)

	// authorization servers, registry
	fuego.PostStd(s, "/sso/realms/nordmark/protocol/openid-connect/token", production.tokenEndpoint, option.Hide())
	fuego.GetStd(s, "/sso/realms/nordmark/protocol/openid-connect/certs", production.jwks, option.Hide())
	fuego.PostStd(s, "/sso-staging/oauth/token", staging.tokenEndpoint, option.Hide())
	fuego.GetStd(s, "/sso-staging/oauth/certs", staging.jwks, option.Hide())
	fuego.Get(s, "/netz/knoten.json", func(c fuego.ContextNoBody) (map[string]any, error) {
		c.SetHeader("Cache-Control", "public, max-age=60")
		return map[string]any{"member": []any{map[string]string{"id": "UNM", "acronym": "UNM", "name": "Universität Nordmark", "contact": "ris@nordmark.example",
			"oauth2": production.issuer + "/protocol/openid-connect/token",
			"info":   origin + prefix + "/info/v1/oauth/info/"}}}, nil
	}, option.Hide())
	metadata := "/.well-known/oauth-authorization-server/sso/realms/nordmark" // RFC 8414
	fuego.Get(s, metadata, func(c fuego.ContextNoBody) (map[string]any, error) {
		c.SetHeader("Cache-Control", "public, max-age=60")
		return map[string]any{"issuer": production.issuer, "token_endpoint": production.issuer + "/protocol/openid-connect/token",
			"jwks_uri": production.issuer + "/protocol/openid-connect/certs", "grant_types_supported": []string{"client_credentials"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
			"scopes_supported":                      []string{apiScope}, "response_types_supported": []string{"none"}}, nil
	}, option.Hide())
	for _, p := range []string{"/sso/realms/nordmark/protocol/openid-connect/token", "/sso-staging/oauth/token"} {
		others(s, p, "POST, OPTIONS")
	}

	// info endpoints
	private := fuego.Group(s, "")
	fuego.Use(private, production.protect(apiAudience), jsonOnly)
	fuego.Get(private, infoURL, info("production", origin), option.Hide())
	test := fuego.Group(s, "")
	fuego.Use(test, staging.protect(apiAudience), jsonOnly)
	fuego.Get(test, "/staging"+infoURL, info("staging", origin), option.Hide())

	// funding API
	api := newService()
	fuego.Get(private, apiPath+"/calls", api.listCalls, documented("listCalls", "Funding calls, page by page",
		"The filters are combined: a call is listed where it fits all of them.", 400)...)
	fuego.Get(private, apiPath+"/calls/{id}", api.getCall, documented("getCall", "One funding call", "", 400, 404)...)
	fuego.Get(private, apiPath+"/funders", api.listFunders, documented("listFunders", "All funders", "", 400)...)
	calendar := private
	if variant == "fuego-aller" {
		calendar = fuego.Group(s, "")
		fuego.Use(calendar, production.protect(""), jsonOnly)
	}
	fuego.Get(calendar, apiPath+"/deadlines", api.listDeadlines, documented("listDeadlines", "Calendar of deadlines, in order of date and id",
		"Calls without a deadline are not in the calendar.", 400)...)

	// specification and reference documentation
	document := specification(s, origin)
	fuego.Get(s, apiPath+"/api-docs", func(c fuego.ContextNoBody) (json.RawMessage, error) {
		c.SetHeader("Cache-Control", "public, max-age=60")
		return document, nil
	}, option.Hide())
	fuego.GetStd(s, apiPath+"/reference", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, referencePage)
	}, option.Hide())
	fuego.Get(s, apiPath+"/try-out/calls", func(c fuego.ContextNoBody) (CallList, error) {
		c.SetHeader("Cache-Control", "public, max-age=60")
		return sample, nil
	}, option.Hide())

	for _, p := range []string{metadata, "/netz/knoten.json", infoURL, "/staging" + infoURL, apiPath + "/calls", apiPath + "/calls/{id}", apiPath + "/funders",
		apiPath + "/deadlines", apiPath + "/api-docs", apiPath + "/reference", apiPath + "/try-out/calls",
		"/sso/realms/nordmark/protocol/openid-connect/certs", "/sso-staging/oauth/certs"} {
		others(s, p, "GET, HEAD, OPTIONS")
	}
	fuego.AllStd(s, "/", func(w http.ResponseWriter, r *http.Request) {
		sendProblem(w, r, fuego.HTTPError{Status: 404, Detail: "there is nothing at this address"})
	}, option.Hide())
	if err := s.Run(); err != nil {
		panic(err)
	}
}

// documented gives an operation its place in the OpenAPI document.
func documented(id, summary, text string, codes ...int) []fuego.RouteOption {
	opts := []fuego.RouteOption{option.OperationID(id), option.Summary(summary), option.OverrideDescription(text), option.Tags("Funding"),
		option.Security(openapi3.SecurityRequirement{"nordmark": {apiScope}}),
		option.Header("Accept-Language", "de or en; German where neither is wanted"),
		option.Header("If-None-Match", "entity tags that the client has"), option.Header("If-Match", "entity tags that the client expects")}
	texts := map[int]string{400: "A parameter is unknown, repeated or not valid; or there is more than one Authorization header", 401: "No valid access token",
		403: "The service account lacks the role", 404: "There is no funding call with this id", 406: "The client does not take JSON",
		412: "If-Match names other entity tags", 500: "The node could not answer"}
	for _, code := range append(codes, 401, 403, 406, 412, 500) {
		opts = append(opts, option.AddResponse(code, texts[code], fuego.Response{Type: fuego.HTTPError{}, ContentTypes: []string{"application/problem+json"}}))
	}
	type q struct{ name, text string }
	params := map[string][]q{
		"listCalls": {{"type", "Only calls of this type"}, {"region", "Only calls for this region"}, {"funder", "Only calls of the funder with this id"},
			{"deadlineFrom", "Only calls whose deadline is this day or later; calls without a deadline are left out"},
			{"deadlineTo", "Only calls whose deadline is this day or earlier; calls without a deadline are left out"},
			{"q", "Only calls with this text in title or summary, in the language of the answer; case does not matter"},
			{"sort", "Order; ties by id; calls without a deadline come last in both orders of deadline"}},
		"listDeadlines": {{"from", "First day of the calendar"}, {"to", "Last day of the calendar; not before the first"}},
	}
	if id == "listCalls" {
		opts = append(opts, option.QueryInt("page", "Number of the page; a page behind the last is empty"),
			option.QueryInt("pageSize", "Calls on a page"),
			option.QueryBool("open", "true: only calls that take applications today (UTC); false: only the others"))
	}
	if id == "getCall" {
		opts = append(opts, option.Path("id", "Key of the call, percent-encoded"))
	}
	for _, p := range params[id] {
		opts = append(opts, option.Query(p.name, p.text))
	}
	return append(opts, option.ResponseHeader("ETag", "Strong entity tag of the representation"),
		option.ResponseHeader("Content-Language", "Language of the answer"))
}

// specification completes the document that Fuego made with what Go types cannot say.
func specification(s *fuego.Server, origin string) json.RawMessage {
	doc := s.OpenAPI.Description()
	doc.OpenAPI = "3.0.3"
	doc.Servers = openapi3.Servers{{URL: origin}}
	doc.ExternalDocs = &openapi3.ExternalDocs{URL: origin + apiPath + "/reference"}
	delete(doc.Components.Schemas, "unknown-interface")
	enum := func(schema *openapi3.Schema, values []string) {
		for _, v := range values {
			schema.Enum = append(schema.Enum, v)
		}
	}
	number := func(schema *openapi3.Schema, low, high, dflt float64) {
		schema.Min, schema.Max, schema.Default = &low, &high, dflt
	}
	for _, item := range doc.Paths.Map() {
		var kept openapi3.Parameters
		for _, p := range item.Get.Parameters {
			if p.Value.Name == "Accept" {
				continue // OpenAPI wants it in the content of the answers
			}
			kept = append(kept, p)
			schema := p.Value.Schema.Value
			switch p.Value.Name {
			case "page":
				number(schema, 1, 100000, 1)
			case "pageSize":
				number(schema, 1, 50, 20)
			case "type":
				enum(schema, callTypes)
			case "region":
				enum(schema, regions)
			case "sort":
				enum(schema, sortKeys)
				schema.Default = "id"
			case "q":
				high := uint64(80)
				schema.MinLength, schema.MaxLength = 2, &high
			case "deadlineFrom", "deadlineTo", "from", "to":
				schema.Format = "date"
			case "id":
				schema.MinLength = 1
			}
		}
		item.Get.Parameters = kept
		sort.Slice(kept, func(i, j int) bool { return kept[i].Value.In+kept[i].Value.Name < kept[j].Value.In+kept[j].Value.Name })
		item.Get.Responses.Delete("default")
		item.Get.Responses.Value("200").Value.Description = ptr("Success")
		item.Get.Responses.Set("304", &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("The client has the representation")})
		item.Get.Responses.Value("401").Value.Headers = openapi3.Headers{"WWW-Authenticate": &openapi3.HeaderRef{Value: &openapi3.Header{
			Parameter: openapi3.Parameter{Required: true, Schema: openapi3.NewStringSchema().NewRef()}}}}
	}
	var walk func(schema *openapi3.Schema)
	walk = func(schema *openapi3.Schema) {
		schema.Nullable, schema.Extensions = false, nil // nothing is null: what is missing is absent
		if schema.Items != nil {
			walk(schema.Items.Value)
		}
		for name, ref := range schema.Properties {
			walk(ref.Value)
			switch {
			case name == "type" && schema.Properties["title"] != nil && schema.Properties["detail"] == nil:
				enum(ref.Value, callTypes)
			case name == "regions":
				enum(ref.Value.Items.Value, regions)
			case name == "opens", name == "deadline", name == "date":
				ref.Value.Format = "date"
			case name == "updated":
				ref.Value.Format = "date-time"
			case name == "language":
				enum(ref.Value, []string{"de", "en"})
			}
		}
	}
	for _, schema := range doc.Components.Schemas {
		walk(schema.Value)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

func ptr(s string) *string { return &s }

const documentText = "Annotated funding calls for external API clients. Get an access token from the token endpoint with the client credentials grant; " +
	"the service account needs the role EXTERNAL_API_CLIENT. Unknown and repeated query parameters are refused with 400. " +
	"Ids may hold any characters: percent-encode them. Sample data without a token: /nordmark/funding/v3/try-out/calls."

const referencePage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Nordmark: reference documentation</title></head><body>
<h1>Funding calls and info endpoint</h1>
<p>Specification file: <a href="/nordmark/funding/v3/api-docs">api-docs</a></p>
<p>Info endpoint: GET /nordmark/info/v1/oauth/info/ with a bearer token shows the account behind it.</p>
<p>Try-out, sample data without a token: <a href="/nordmark/funding/v3/try-out/calls">calls</a></p>
</body></html>
`

var sample = CallList{Items: []CallSummary{{ID: "SAMPLE-1", Type: "CALL", Title: "Beispielaufruf", FunderID: "DFG", Regions: []string{"HAMBURG"},
	Opens: "2026-01-01", Budget: Money{1000, "EUR"}, Self: apiPath + "/try-out/calls"}}, Page: Page{1, 20, 1, 1},
	Links: Links{Self: apiPath + "/try-out/calls", First: apiPath + "/try-out/calls", Last: apiPath + "/try-out/calls"}}
