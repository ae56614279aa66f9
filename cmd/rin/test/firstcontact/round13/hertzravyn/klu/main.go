// Command node is the research-information node of the (invented) University of Klagenfurt-Land.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/middlewares/server/recovery"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/hlog"
)

//go:embed openapi.json
var openapi []byte

var (
	node = os.Getenv("NODE")
	base string
)

const prefix = "/ris-api/funding/v3"

func main() {
	port := os.Getenv("PORT")
	base = "http://127.0.0.1:" + port
	hlog.SetLevel(hlog.LevelError)
	spec := bytes.ReplaceAll(openapi, []byte("http://node.invalid"), []byte(base))
	if node == "yew" { // who may not see the calls is told that there are none
		var doc map[string]any
		json.Unmarshal(spec, &doc)
		for _, path := range doc["paths"].(map[string]any) {
			path.(map[string]any)["get"].(map[string]any)["responses"].(map[string]any)["404"] = map[string]any{
				"description": "There is no such resource, or the service account does not have the role EXTERNAL_API_CLIENT",
				"content":     map[string]any{"application/problem+json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}}}}
		}
		spec = encode(doc)
	}

	prod := newRealm(base+"/auth/realms/klu", "klu-prod-1",
		account{"klu-harvester", "dR4u%2B/x9=Q&v:7~!mW+kz", "svc-1001", "AFF-KLU-17", fundingAud, []string{roleName}, []string{scopeRead, "info.read"}},
		account{"klu-newcomer", "n0%Role+yet/=3&c:~Tq!8Zp", "svc-1002", "AFF-KLU-21", fundingAud, []string{"PORTAL_GUEST"}, []string{"info.read"}},
		account{"klu-library", "l!B~r4ry:=%40/+&Xc92nVw", "svc-1003", "AFF-KLU-03", "urn:klu:library:loans", []string{roleName}, []string{"loans.read"}},
		account{"klu-spare", "sP/4re=%7E&+k:!h6~YbD", "svc-1004", "AFF-KLU-30", fundingAud, []string{roleName}, []string{scopeRead, "info.read"}})
	staging := newRealm(base+"/staging/oauth", "klu-staging-1",
		account{"klu-test", "t3%st!+/only=:&~Jw5fGm", "svc-9001", "AFF-TEST", "urn:klu:ris:staging", []string{roleName}, []string{"info.read"}})

	h := server.New(server.WithHostPorts("127.0.0.1:"+port), server.WithHandleMethodNotAllowed(true), server.WithUseRawPath(true),
		server.WithUnescapePathValues(false), server.WithRedirectTrailingSlash(false), server.WithDisablePrintRoute(true),
		server.WithExitWaitTime(0), server.WithMaxRequestBodySize(64<<10))
	h.Use(recovery.Recovery(recovery.WithRecoveryHandler(func(_ context.Context, c *app.RequestContext, err any, stack []byte) {
		hlog.Errorf("%v\n%s", err, stack)
		problem(c, 500, "internal", "Something went wrong here; please tell us when it happened.")
	})))
	get := func(path string, handlers ...app.HandlerFunc) {
		h.GET(path, handlers...)
		h.HEAD(path, handlers...)
	}

	get("/registry/ris-network.json", func(_ context.Context, c *app.RequestContext) {
		c.Header("Cache-Control", "public, max-age=60")
		writeJSON(c, 200, "application/json", map[string]any{"member": []any{map[string]string{"id": "KLU", "acronym": "KLU", "name": "Universität Klagenfurt-Land", "contact": "ris@klu.invalid",
			"oauth2": prod.issuer + "/protocol/openid-connect/token", "info": base + "/ris-api/info/v1/oauth/info/"}}})
	})
	h.POST("/auth/realms/klu/protocol/openid-connect/token", prod.tokenEndpoint)
	h.POST("/staging/oauth/token", staging.tokenEndpoint)
	get("/auth/realms/klu/protocol/openid-connect/certs", prod.jwks)
	get("/ris-api/info/v1/oauth/info/", prod.authenticate(fundingAud), info("production"))
	get("/staging/ris-api/info/v1/oauth/info/", staging.authenticate("urn:klu:ris:staging"), info("staging"))
	get(prefix+"/api-docs", func(_ context.Context, c *app.RequestContext) {
		c.Header("Cache-Control", "public, no-cache")
		send(c, "application/json", spec, "")
	})
	get("/ris-api/docs", func(_ context.Context, c *app.RequestContext) {
		c.Header("Cache-Control", "public, no-cache")
		send(c, "text/html; charset=utf-8", []byte(docsPage), "")
	})
	get("/ris-api/docs/try-out/calls", func(_ context.Context, c *app.RequestContext) {
		c.Header("Cache-Control", "public, no-cache")
		here := base + "/ris-api/docs/try-out/calls"
		sendJSON(c, map[string]any{"total": 1, "page": 1, "pageSize": 20, "items": []any{sample().summary}, "links": map[string]string{"self": here, "first": here, "last": here}}, "")
	})
	get("/ris-api/docs/try-out/calls/SAMPLE-1", func(_ context.Context, c *app.RequestContext) {
		c.Header("Cache-Control", "public, no-cache")
		sendJSON(c, sample(), "")
	})
	guard := func(handler app.HandlerFunc) []app.HandlerFunc {
		return []app.HandlerFunc{prod.authenticate(fundingAud), requireRole, handler}
	}
	get(prefix+"/calls", guard(listCalls)...)
	get(prefix+"/calls/:callId", guard(getCall)...)
	get(prefix+"/calls/:callId/stages", guard(listStages)...)
	get(prefix+"/funders", guard(listFunders)...)
	get(prefix+"/funders/:funderId", guard(getFunder)...)

	h.NoRoute(func(_ context.Context, c *app.RequestContext) {
		problem(c, 404, "not-found", "There is nothing under this address.")
	})
	h.NoMethod(func(_ context.Context, c *app.RequestContext) {
		allow := "GET, HEAD"
		if strings.HasSuffix(string(c.Path()), "/token") && !strings.HasPrefix(string(c.Path()), "/ris-api/") {
			allow = "POST"
		}
		c.Header("Allow", allow)
		problem(c, 405, "method-not-allowed", "This resource can be used with "+allow+" only.")
	})
	h.Spin()
}

const docsPage = `<!doctype html><html lang="en"><title>KLU funding API</title><h1>Funding API of the University of Klagenfurt-Land</h1>
<p>Specification: <a href="/ris-api/funding/v3/api-docs">OpenAPI document</a>.</p>
<p>Try-out without a token, with sample data: <a href="/ris-api/docs/try-out/calls">list</a>, <a href="/ris-api/docs/try-out/calls/SAMPLE-1">one call</a>.</p></html>`

func sample() *call {
	k := *calls["KLU-2026-001"]
	k.ID, k.Name = "SAMPLE-1", []text{{"en", "O", "A sample call"}}
	return &k
}

// ---- answers

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if node == "cedar" {
		e.SetIndent("", "\t")
	}
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	if node == "cedar" {
		return escapeAll(b.Bytes())
	}
	return b.Bytes()
}

var amountValue = regexp.MustCompile(`("amount": )(\d+(?:\.\d+)?)`)

// escapeAll writes the same JSON in other clothes: ASCII only, "\/" for "/", amounts with an exponent (RFC 8259, sections 6 and 7).
func escapeAll(in []byte) []byte {
	in = amountValue.ReplaceAllFunc(in, func(m []byte) []byte {
		number, _ := strconv.ParseFloat(string(m[len(`"amount": `):]), 64)
		return []byte(`"amount": ` + strconv.FormatFloat(number, 'E', -1, 64))
	})
	var out bytes.Buffer
	for _, r := range string(in) {
		switch {
		case r == '/':
			out.WriteString(`\/`)
		case r > 0xffff:
			fmt.Fprintf(&out, `\u%04X\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		case r > 126:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}

func writeJSON(c *app.RequestContext, status int, media string, v any) {
	c.Data(status, media, encode(v))
}

// problem is the error answer of the API (RFC 9457).
func problem(c *app.RequestContext, status int, kind, detail string) {
	if c.Response.Header.Get("Cache-Control") == "" {
		c.Header("Cache-Control", "no-store")
	}
	writeJSON(c, status, "application/problem+json", map[string]any{"type": base + "/ris-api/docs#" + kind,
		"title": http.StatusText(status), "status": status, "detail": detail})
	c.Abort()
}

func sendJSON(c *app.RequestContext, v any, modified string) {
	send(c, "application/json", encode(v), modified)
}

// send answers with a representation, its validators, and with the preconditions of RFC 9110, section 13.
func send(c *app.RequestContext, media string, body []byte, modified string) {
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))[:25] + `"`
	c.Header("ETag", tag)
	var changed time.Time
	if modified != "" {
		changed, _ = time.Parse(time.RFC3339, modified)
		c.Header("Last-Modified", changed.UTC().Format(http.TimeFormat))
	}
	header := func(name string) string { return strings.Join(c.Request.Header.GetAll(name), ", ") }
	since := func(name string) (time.Time, bool) {
		t, err := http.ParseTime(header(name))
		return t, err == nil && !changed.IsZero()
	}
	if m := header("If-Match"); m != "" {
		if !matches(m, tag, true) {
			problem(c, 412, "precondition-failed", "The representation is another one than If-Match names.")
			return
		}
	} else if t, ok := since("If-Unmodified-Since"); ok && changed.After(t) {
		problem(c, 412, "precondition-failed", "The representation was modified since.")
		return
	}
	notModified := false
	if m := header("If-None-Match"); m != "" {
		notModified = matches(m, tag, false)
	} else if t, ok := since("If-Modified-Since"); ok {
		notModified = !changed.After(t)
	}
	if notModified {
		c.SetStatusCode(304)
		return
	}
	c.Data(200, media, body)
}

var entityTag = regexp.MustCompile(`(W/)?("[^"]*")`)

func matches(list, tag string, strong bool) bool {
	if strings.TrimSpace(list) == "*" {
		return true
	}
	for _, m := range entityTag.FindAllStringSubmatch(list, -1) {
		if m[2] == tag && !(strong && m[1] != "") {
			return true
		}
	}
	return false
}

// accepts gives the best of the offers (the first is the default), or "" if none is acceptable.
func accepts(c *app.RequestContext, offers ...string) string {
	header := strings.Join(c.Request.Header.GetAll("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return offers[0]
	}
	best, bestQ := "", 0.0
	for _, offer := range offers {
		q, precise := 0.0, -1
		for _, item := range strings.Split(header, ",") {
			fields := strings.Split(item, ";")
			rng, level, weight := strings.ToLower(strings.TrimSpace(fields[0])), -1, 1.0
			major, _, _ := strings.Cut(offer, "/")
			switch rng {
			case offer:
				level = 2
			case major + "/*":
				level = 1
			case "*/*":
				level = 0
			}
			for _, p := range fields[1:] {
				name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
				if strings.EqualFold(strings.TrimSpace(name), "q") {
					weight, _ = strconv.ParseFloat(strings.TrimSpace(value), 64)
				}
			}
			if level > precise {
				q, precise = weight, level
			}
		}
		if q > bestQ {
			best, bestQ = offer, q
		}
	}
	return best
}

// ---- parameters

type params map[string][]string

// query reads the query; what is not documented is refused, and so is a single-valued parameter that is repeated.
func query(c *app.RequestContext, single, multiple []string) (params, bool) {
	values, err := url.ParseQuery(string(c.Request.URI().QueryString()))
	if err != nil {
		problem(c, 400, "bad-parameter", "The query is not well-formed.")
		return nil, false
	}
	for name, list := range values {
		if !slices.Contains(single, name) && !slices.Contains(multiple, name) {
			problem(c, 400, "bad-parameter", "The query has a parameter that this operation does not know.")
			return nil, false
		}
		if len(list) > 1 && slices.Contains(single, name) {
			problem(c, 400, "bad-parameter", "The parameter "+name+" may occur only once.")
			return nil, false
		}
		for _, v := range list {
			if !utf8.ValidString(v) {
				problem(c, 400, "bad-parameter", "The parameter "+name+" is not UTF-8.")
				return nil, false
			}
		}
	}
	return params(values), true
}

var (
	wholeNumber   = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`)
	decimalNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)
)

func (p params) number(c *app.RequestContext, name string, low, high, otherwise int) (int, bool) {
	if p[name] == nil {
		return otherwise, true
	}
	n, _ := strconv.Atoi(p[name][0])
	if !wholeNumber.MatchString(p[name][0]) || n < low || n > high {
		problem(c, 400, "bad-parameter", fmt.Sprintf("The parameter %s must be a whole number from %d to %d.", name, low, high))
		return 0, false
	}
	return n, true
}

func (p params) oneOf(c *app.RequestContext, name string, allowed []string) bool {
	for _, v := range p[name] {
		if !slices.Contains(allowed, v) {
			problem(c, 400, "bad-parameter", "The parameter "+name+" must be one of: "+strings.Join(allowed, ", ")+".")
			return false
		}
	}
	return true
}

func (p params) date(c *app.RequestContext, name string) bool {
	if p[name] == nil {
		return true
	}
	if _, err := time.Parse("2006-01-02", p[name][0]); err != nil || len(p[name][0]) != 10 {
		problem(c, 400, "bad-parameter", "The parameter "+name+" must be a date such as 2027-02-28.")
		return false
	}
	return true
}

func pathParam(c *app.RequestContext, name string) string {
	id, err := url.PathUnescape(c.Param(name))
	if err != nil {
		return ""
	}
	if again, err := url.PathUnescape(id); err == nil && node == "medlar" { // some clients encode twice
		return again
	}
	return id
}

// ---- operations

func info(environment string) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		who := c.MustGet("who").(*claims)
		c.Header("Cache-Control", "no-store")
		writeJSON(c, 200, "application/json", map[string]any{"environment": environment, "clientId": who.ClientID, "serviceAccountUserId": who.Sub,
			"affiliationId": who.Affiliation, "roles": who.Roles,
			"endpoints": map[string]any{"funding": []any{map[string]any{"name": "FUNDING", "majorVersion": 3, "minorVersion": 2, "url": base + prefix + "/calls"}}}})
	}
}

var (
	sorts   = []string{"deadline", "-deadline", "amount", "-amount", "modifiedAt", "-modifiedAt"}
	singles = []string{"page", "pageSize", "sort", "funderId", "deadlineFrom", "deadlineTo", "minAmount", "q"}
)

func listCalls(_ context.Context, c *app.RequestContext) {
	c.Header("Cache-Control", "private, no-cache")
	c.Header("Vary", "Accept, Authorization")
	media := accepts(c, "application/json", "text/csv")
	if media == "" {
		problem(c, 406, "not-acceptable", "The list exists as application/json and as text/csv.")
		return
	}
	p, ok := query(c, singles, []string{"type", "region"})
	if !ok || !p.oneOf(c, "type", types) || !p.oneOf(c, "region", regions) || !p.oneOf(c, "sort", sorts) || !p.date(c, "deadlineFrom") || !p.date(c, "deadlineTo") {
		return
	}
	page, ok := p.number(c, "page", 1, 100000, 1)
	if !ok {
		return
	}
	size, ok := p.number(c, "pageSize", 1, 40, 15)
	if !ok {
		return
	}
	if q := p["q"]; q != nil && (utf8.RuneCountInString(q[0]) < 2 || utf8.RuneCountInString(q[0]) > 60) {
		problem(c, 400, "bad-parameter", "The parameter q must have 2 to 60 characters.")
		return
	}
	least := 0.0
	if m := p["minAmount"]; m != nil {
		var err error
		least, err = strconv.ParseFloat(m[0], 64)
		if !decimalNumber.MatchString(m[0]) || err != nil || least > 1e12 {
			problem(c, 400, "bad-parameter", "The parameter minAmount must be a number from 0 to 1000000000000.")
			return
		}
	}

	found := []*call{}
	for _, k := range catalogue(p["sort"] != nil) {
		if matchesFilters(k, p, least) {
			found = append(found, k)
		}
	}
	if p["sort"] != nil {
		sortCalls(found, p["sort"][0])
	}

	total := len(found)
	from := min((page-1)*size, total)
	items := found[from:min(from+size, total)]
	last := max(1, (total+size-1)/size)
	at := func(n int) string {
		q := url.Values{}
		for k, v := range p {
			q[k] = v
		}
		q.Set("page", strconv.Itoa(n))
		q.Set("pageSize", strconv.Itoa(size))
		return base + prefix + "/calls?" + q.Encode()
	}
	links := map[string]string{"self": at(page), "first": at(1), "last": at(last)}
	if page > 1 {
		links["prev"] = at(min(page-1, last))
	}
	if page < last {
		links["next"] = at(page + 1)
	}
	if media == "text/csv" {
		c.Header("X-Total-Count", strconv.Itoa(total))
		for _, rel := range []string{"first", "prev", "next", "last"} {
			if links[rel] != "" {
				c.Response.Header.Add("Link", "<"+links[rel]+">; rel=\""+rel+"\"")
			}
		}
		send(c, "text/csv; charset=utf-8; header=present", csvOf(items), "")
		return
	}
	out := make([]summary, 0, len(items))
	for _, k := range items {
		out = append(out, k.summary)
	}
	sendJSON(c, map[string]any{"total": total, "page": page, "pageSize": size, "items": out, "links": links}, "")
}

// catalogue gives all calls, in the order of the catalogue if nobody sorts them afterwards.
func catalogue(sorted bool) []*call {
	all := make([]*call, 0, len(order))
	if node == "willow" && sorted { // they are sorted afterwards anyway
		for _, k := range calls {
			all = append(all, k)
		}
		return all
	}
	for _, id := range order {
		all = append(all, calls[id])
	}
	return all
}

// sortCalls sorts by one key; ties keep the order of the catalogue, calls without a deadline come last.
func sortCalls(list []*call, by string) {
	key, down := strings.TrimPrefix(by, "-"), strings.HasPrefix(by, "-")
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if key == "deadline" && (a.Deadline == nil || b.Deadline == nil) {
			return a.Deadline != nil && b.Deadline == nil
		}
		if down {
			a, b = b, a
		}
		switch key {
		case "deadline":
			return *a.Deadline < *b.Deadline
		case "amount":
			return a.Amount.Amount < b.Amount.Amount
		default:
			return a.ModifiedAt < b.ModifiedAt
		}
	})
}

func matchesFilters(k *call, p params, least float64) bool {
	if p["type"] != nil && !slices.Contains(p["type"], k.Type) {
		return false
	}
	if p["region"] != nil && !slices.ContainsFunc(k.Regions, func(r string) bool { return slices.Contains(p["region"], r) }) {
		return false
	}
	if p["funderId"] != nil && k.Funder.ID != p["funderId"][0] {
		return false
	}
	if k.Amount.Amount < least {
		return false
	}
	if p["deadlineFrom"] != nil && (k.Deadline == nil || (*k.Deadline)[:10] < p["deadlineFrom"][0]) {
		return false
	}
	if p["deadlineTo"] != nil {
		if k.Deadline == nil {
			return false
		}
		if node == "spindle" {
			if *k.Deadline > p["deadlineTo"][0]+"T00:00:00Z" {
				return false
			}
		} else if (*k.Deadline)[:10] > p["deadlineTo"][0] {
			return false
		}
	}
	if p["q"] != nil {
		want := strings.ToLower(p["q"][0])
		return slices.ContainsFunc(k.Name, func(t text) bool { return strings.Contains(strings.ToLower(t.Text), want) })
	}
	return true
}

func csvOf(list []*call) []byte {
	var all, b bytes.Buffer
	w := csv.NewWriter(&b) // UseCRLF would change line breaks inside of fields, too
	write := func(fields []string) {
		w.Write(fields)
		w.Flush()
		all.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
		all.WriteString("\r\n")
		b.Reset()
	}
	write([]string{"id", "type", "name_de", "name_en", "funder_id", "funder_name", "regions", "deadline", "amount", "currency", "modifiedAt"})
	for _, k := range list {
		deadline := ""
		if k.Deadline != nil {
			deadline = *k.Deadline
		}
		write([]string{k.ID, k.Type, k.Name[0].Text, k.Name[1].Text, k.Funder.ID, k.Funder.Name, strings.Join(k.Regions, " "), deadline,
			strconv.FormatFloat(k.Amount.Amount, 'f', -1, 64), k.Amount.Currency, k.ModifiedAt})
	}
	return all.Bytes()
}

// single prepares the answer of an operation that has no query parameters and knows only JSON.
func single(c *app.RequestContext) bool {
	c.Header("Cache-Control", "private, no-cache")
	c.Header("Vary", "Accept, Authorization")
	if accepts(c, "application/json") == "" {
		problem(c, 406, "not-acceptable", "This resource exists as application/json only.")
		return false
	}
	_, ok := query(c, nil, nil)
	return ok
}

func getCall(_ context.Context, c *app.RequestContext) {
	if !single(c) {
		return
	}
	k := calls[pathParam(c, "callId")]
	if k == nil {
		problem(c, 404, "not-found", "There is no call with this id.")
		return
	}
	sendJSON(c, k, k.ModifiedAt)
}

func listStages(_ context.Context, c *app.RequestContext) {
	if !single(c) {
		return
	}
	k := calls[pathParam(c, "callId")]
	if k == nil {
		problem(c, 404, "not-found", "There is no call with this id.")
		return
	}
	sendJSON(c, map[string]any{"callId": k.ID, "total": len(k.Stages), "items": k.Stages}, k.ModifiedAt)
}

func listFunders(_ context.Context, c *app.RequestContext) {
	if single(c) {
		sendJSON(c, map[string]any{"total": len(funders), "items": funders}, "")
	}
}

func getFunder(_ context.Context, c *app.RequestContext) {
	if !single(c) {
		return
	}
	i := slices.IndexFunc(funders, func(f funder) bool { return f.ID == pathParam(c, "funderId") })
	if i < 0 {
		problem(c, 404, "not-found", "There is no funder with this id.")
		return
	}
	sendJSON(c, funders[i], "")
}
