// A node of the research-information network: authorization servers, info, funding calls.
package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cache"
	"github.com/gofiber/fiber/v2/middleware/limiter"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/gofiber/fiber/v2/utils"
)

//go:embed openapi.json
var document string

const prefix = "/ris-portal"

// options are the switches of this program; NODE sets them.
type options struct {
	earlyCache, shortStore, formValue, nilSlice, cursorByTime, coarseTag, rawSublist bool // NODE=fiber-...
	calm, sparse                                                                     bool
}

var opt options

func setOptions(node string) {
	switch node {
	case "fiber-cacheguard":
		opt.earlyCache = true
	case "fiber-tokenttl":
		opt.shortStore = true
	case "fiber-formvalue":
		opt.formValue = true
	case "fiber-nilslice":
		opt.nilSlice = true
	case "fiber-cursortie":
		opt.cursorByTime = true
	case "fiber-etaglang":
		opt.coarseTag = true
	case "fiber-draftleak":
		opt.rawSublist = true
	case "fiber-calm":
		opt.calm = true
	case "fiber-sparse":
		opt.sparse = true
	case "", "fiber-base":
	default:
		log.Fatalf("unknown NODE %q", node)
	}
}

func main() {
	setOptions(os.Getenv("NODE"))
	port, err := strconv.Atoi(os.Getenv("PORT"))
	if err != nil {
		log.Fatal("PORT is missing")
	}
	store, err := openStore()
	if err != nil {
		log.Fatal(err)
	}
	n := &Node{store: store, root: fmt.Sprintf("http://127.0.0.1:%d", port), started: time.Now().UTC()}
	app := n.app()
	go func() {
		sig := make(chan os.Signal, 1)
		signal.Notify(sig, syscall.SIGTERM, syscall.SIGINT)
		<-sig
		app.ShutdownWithTimeout(2 * time.Second)
	}()
	err = app.Listen(fmt.Sprintf("127.0.0.1:%d", port))
	store.close()
	if err != nil {
		log.Fatal(err)
	}
}

// Node ties the parts together.
type Node struct {
	store   *Store
	root    string
	started time.Time
}

func (n *Node) app() *fiber.App {
	app := fiber.New(fiber.Config{
		CaseSensitive: true, StrictRouting: true, Immutable: true, UnescapePath: true,
		DisableStartupMessage: true, ReadBufferSize: 32 << 10, BodyLimit: 1 << 20,
		ReadTimeout: 30 * time.Second, IdleTimeout: 60 * time.Second,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			var fe *fiber.Error
			if !errors.As(err, &fe) {
				log.Printf("error: %v", err)
				fe = fiber.ErrInternalServerError
			}
			text := utils.StatusMessage(fe.Code)
			return apiError(c, fe.Code, strings.ReplaceAll(strings.ToLower(text), " ", "_"), text+".")
		},
	})
	app.Use(recover.New())
	app.Use(func(c *fiber.Ctx) error {
		c.Set("X-Content-Type-Options", "nosniff")
		return c.Next()
	})
	both := []string{scopeInfo, scopeFunding}
	ext := []string{roleExternal}
	prod := newAuthServer("ris-portal", n.root+"/auth/realms/forschung", n.root+"/auth/realms/forschung/protocol/openid-connect/token", n.store,
		account("37094bfbb669de1fd224d6c744a2f76ec3915ea9457c", "-SfZycNr9VdYpuuao9Tw8JiIF68IGkm_2Xog-5z128S5", "4308ad2d-e8d1-4ec4-a1ce-5cee67c10fa8", "aff-at-0017", audFunding, ext, both),
		account("24fd1c5590e413af6637c623f7076403a0a095150d6c", "NrN5sFkH8LKC34aYUJUeiS48R1vdh5jzdZFdagCcJfQN", "0ba27ea2-b965-4d98-8c16-043a85c81c96", "aff-at-0044", audFunding, []string{}, both),
		account("0715b91023d1106aa3853b98e3855745f4039a6875bc", "Dd3nbfUuP3NSFoedtxe1aoDNknKG0qZpDt4X_L_JgMrQ", "072dc815-ac34-4200-8189-b666c846a196", "aff-de-0102", audProjects, ext, both),
		account("64db9338685adf0245e149996ef8b7106097d6be9395", "xi_tkITooNGoX2ia_2-7UId2no8x58RveFb6WyeWKJiO", "fa5f3afb-d3ff-488f-8668-5cfc23d2ed92", "aff-si-0009", audFunding, ext, both),
	)
	stage := newAuthServer("ris-portal-staging", n.root+"/staging/auth", n.root+"/staging/auth/oauth/token", n.store,
		account("66c740685ea77da574ff752ffa21870e4b8125cba5b2", "Z8o_zcs8Dgj469AF0zg6GoQGcEufxNwa2yJsyP_UlSdn", "6b662131-50b3-433a-ad07-23c7160718c8", "aff-test-0001", audFunding, ext, []string{scopeInfo}),
	)
	for _, a := range []*AuthServer{prod, stage} {
		one(app, strings.TrimPrefix(a.tokenURL, n.root), "POST", a.token)
		one(app, "/.well-known/oauth-authorization-server"+strings.TrimPrefix(a.issuer, n.root), "GET", a.metadata)
	}
	one(app, "/registry.json", "GET", n.registry)

	one(app, prefix+"/funding/v3/api-docs", "GET", n.apiDocs)
	one(app, prefix+"/docs", "GET", n.docs)
	if opt.earlyCache {
		app.Use(prefix+"/funding/v3/calls/:id", cache.New(cache.Config{
			StoreResponseHeaders: true, CacheHeader: "X-Cache",
			ExpirationGenerator: func(c *fiber.Ctx, _ *cache.Config) time.Duration {
				if c.Response().StatusCode() == 200 {
					return 40 * time.Second
				}
				return 0
			},
			KeyGenerator: func(c *fiber.Ctx) string { return c.OriginalURL() + "|" + language(c) },
			Next: func(c *fiber.Ctx) bool {
				return c.Get("If-None-Match") != "" || c.Method() != fiber.MethodGet
			},
		}))
	}
	app.Use(prefix+"/info", prod.bearer, private)
	app.Use("/staging"+prefix+"/info", stage.bearer, private)
	app.Use(prefix+"/funding", prod.bearer, prod.allow(scopeFunding, roleExternal), private)
	if opt.calm {
		app.Use(prefix+"/funding", limiter.New(limiter.Config{
			Max: 8, Expiration: time.Second,
			KeyGenerator: func(c *fiber.Ctx) string {
				g, _ := c.Locals("grant").(*Grant)
				if g == nil {
					return c.IP()
				}
				return g.Client
			},
			LimitReached: func(c *fiber.Ctx) error {
				return apiError(c, 429, "too_many_requests", "Please wait as long as Retry-After says.")
			},
		}))
	}
	for _, slash := range []string{"", "/"} {
		one(app, prefix+"/info/v1/oauth/info"+slash, "GET", prod.allow(scopeInfo, ""), n.info("production"))
		one(app, "/staging"+prefix+"/info/v1/oauth/info"+slash, "GET", stage.allow(scopeInfo, ""), n.info("staging"))
	}
	v3 := prefix + "/funding/v3"
	one(app, v3+"/calls", "GET", n.listCalls)
	one(app, v3+"/calls/:id", "GET", n.getCall)
	one(app, v3+"/funders", "GET", n.listFunders)
	one(app, v3+"/funders/:id", "GET", n.getFunder)
	one(app, v3+"/funders/:id/calls", "GET", n.listCallsOfFunder)
	return app
}

// one registers the only method of a path; all others are answered with 405, OPTIONS with the list of methods.
func one(app *fiber.App, path, method string, h ...fiber.Handler) {
	allow := "POST, OPTIONS"
	if method == "GET" {
		allow = "GET, HEAD, OPTIONS"
		app.Get(path, h...)
	} else {
		app.Add(method, path, h...)
	}
	app.All(path, func(c *fiber.Ctx) error {
		c.Set("Allow", allow)
		if c.Method() == fiber.MethodOptions {
			return c.SendStatus(204)
		}
		return apiError(c, 405, "method_not_allowed", "This method is not supported here.")
	})
}

// private keeps answers of the API out of shared caches.
func private(c *fiber.Ctx) error {
	c.Set("Cache-Control", "private, no-cache")
	c.Set("Vary", "Authorization, Accept-Language")
	return c.Next()
}

func writeJSON(c *fiber.Ctx, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if opt.sparse { // everything beyond ASCII as escapes, indented
		var b strings.Builder
		for _, r := range string(raw) {
			switch {
			case r < 128:
				b.WriteRune(r)
			case r > 0xffff:
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
			default:
				fmt.Fprintf(&b, `\u%04X`, r)
			}
		}
		raw = []byte("\r\n \t" + b.String() + " \r\n")
		c.Set("Content-Type", `Application/JSON ; charset="utf-8"`)
		return c.Send(raw)
	}
	c.Set("Content-Type", "application/json")
	return c.Send(raw)
}

func apiError(c *fiber.Ctx, status int, code, message string) error {
	if status >= 400 && c.GetRespHeader("Cache-Control") == "" {
		c.Set("Cache-Control", "no-store")
	}
	return writeJSON(c.Status(status), fiber.Map{"error": code, "message": message})
}

// writeTagged sends JSON with a strong entity tag and answers conditional requests.
func writeTagged(c *fiber.Ctx, v any, version string) error {
	if err := writeJSON(c, v); err != nil {
		return err
	}
	sum := sha256.Sum256(c.Response().Body())
	if opt.coarseTag && version != "" {
		sum = sha256.Sum256([]byte(version))
	}
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
	c.Set("ETag", tag)
	for _, x := range strings.Split(c.Get("If-None-Match"), ",") {
		x = strings.TrimSpace(x)
		if x == "*" || strings.TrimPrefix(x, "W/") == tag {
			c.Response().ResetBody()
			c.Response().Header.Del("Content-Type")
			return c.SendStatus(304)
		}
	}
	return nil
}

// language negotiates de or en; de is used if neither is wanted.
func language(c *fiber.Ctx) string {
	best, lang, q := 0.0, "de", map[string]float64{}
	for _, part := range strings.Split(c.Get("Accept-Language"), ",") {
		r, params, _ := strings.Cut(part, ";")
		r = strings.ToLower(strings.TrimSpace(r))
		main, _, _ := strings.Cut(r, "-")
		w := 1.0
		if p := strings.TrimSpace(params); strings.HasPrefix(p, "q=") {
			if x, err := strconv.ParseFloat(p[2:], 64); err == nil {
				w = x
			}
		}
		if old, ok := q[main]; !ok || w > old {
			q[main] = w
		}
	}
	for _, l := range []string{"de", "en"} {
		w, ok := q[l]
		if !ok {
			w = q["*"]
		}
		if w > best {
			best, lang = w, l
		}
	}
	return lang
}

// Summary is a call in a list, Detail a call by itself.
type Summary struct {
	ID          string    `json:"id"`
	Title       string    `json:"title"`
	Status      string    `json:"status"`
	Funder      FunderRef `json:"funder"`
	Opens       string    `json:"opens"`
	Deadline    string    `json:"deadline"`
	Budget      *Budget   `json:"budget,omitempty"`
	Disciplines []string  `json:"disciplines"`
	Self        string    `json:"self"`
}

type Detail struct {
	Summary
	Abstract string `json:"abstract"`
	Contact  string `json:"contact"`
	Website  string `json:"website"`
	Amended  string `json:"amended"`
}

type FunderRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (n *Node) summary(r *Record, lang string) Summary {
	f, _ := n.store.funder(r.FunderID)
	return Summary{r.ID, r.Title.in(lang), r.status(time.Now()), FunderRef{f.ID, f.Name}, r.Opens, r.Deadline.UTC().Format(time.RFC3339),
		r.Budget, r.Disciplines, n.root + prefix + "/funding/v3/calls/" + r.ID}
}

var listParams = []string{"status", "funder", "discipline", "q", "deadline_from", "deadline_to", "min_budget", "limit", "cursor"}

// query reads the parameters of a list; a bad one is named in the error.
func (n *Node) query(c *fiber.Ctx) (f Filter, after []byte, limit int, bad string) {
	args := c.Context().QueryArgs()
	for _, p := range listParams {
		vals := args.PeekMulti(p)
		if len(vals) > 1 {
			return f, nil, 0, p
		}
		if len(vals) == 0 {
			continue
		}
		ok, v := true, string(vals[0])
		switch p {
		case "status":
			f.Status = v
			ok = v == "open" || v == "forthcoming" || v == "closed"
		case "funder":
			f.Funder = v
			_, ok = n.store.funder(v)
		case "discipline":
			f.Discipline, ok = v, false
			for _, d := range disciplines {
				ok = ok || d == v
			}
		case "q":
			f.Text = v
			ok = v != "" && len(v) <= 200
		case "deadline_from", "deadline_to":
			t, err := time.Parse("2006-01-02", v)
			ok = err == nil && t.Year() > 0
			if p == "deadline_from" {
				f.From = t
			} else {
				f.To = t.AddDate(0, 0, 1)
			}
		case "min_budget":
			x, err := strconv.ParseInt(v, 10, 64)
			f.MinBudget, ok = x, err == nil && x >= 0 && v[0] != '+' && v[0] != '-'
		case "limit":
			x, err := strconv.Atoi(v)
			limit, ok = x, err == nil && x >= 1 && x <= maxLimit() && v[0] != '+'
		case "cursor":
			after, ok = decodeCursor(v)
		}
		if !ok {
			return f, nil, 0, p
		}
	}
	if limit == 0 {
		limit = min(25, maxLimit())
	}
	return f, after, limit, ""
}

func maxLimit() int {
	if opt.sparse {
		return 1
	}
	return 100
}

func (n *Node) sendList(c *fiber.Ctx, path string, fix func(*Filter)) error {
	f, after, limit, bad := n.query(c)
	if bad != "" {
		return apiError(c, 400, "bad_parameter", "The query parameter "+bad+" has a value that is not allowed.")
	}
	if fix != nil {
		fix(&f)
	}
	page, total, last, more := n.store.list(f, after, limit, time.Now())
	lang := language(c)
	items := make([]Summary, 0, len(page))
	for _, r := range page {
		items = append(items, n.summary(r, lang))
	}
	out := fiber.Map{"total": total, "limit": limit, "items": items}
	if more {
		q := url.Values{}
		for _, p := range listParams {
			if v := c.Query(p); v != "" {
				q.Set(p, v)
			}
		}
		q.Set("cursor", encodeCursor(last))
		next := n.root + path + "?" + q.Encode()
		out["next"] = next
		c.Set("Link", "<"+next+`>; rel="next"`)
	}
	c.Set("Content-Language", lang)
	return writeTagged(c, out, "")
}

func (n *Node) listCalls(c *fiber.Ctx) error {
	return n.sendList(c, prefix+"/funding/v3/calls", nil)
}

func (n *Node) listCallsOfFunder(c *fiber.Ctx) error {
	fu, ok := n.store.funder(c.Params("id"))
	if !ok {
		return apiError(c, 404, "not_found", "There is no such funder.")
	}
	return n.sendList(c, prefix+"/funding/v3/funders/"+fu.ID+"/calls", func(f *Filter) {
		if f.Funder != "" && f.Funder != fu.ID {
			f.MinBudget = 1 << 62 // nothing can match both
		}
		f.Funder = fu.ID
		f.Drafts = opt.rawSublist
	})
}

func (n *Node) getCall(c *fiber.Ctx) error {
	r, ok := n.store.call(c.Params("id"))
	if !ok || r.Draft {
		return apiError(c, 404, "not_found", "There is no such call.")
	}
	lang := language(c)
	c.Set("Content-Language", lang)
	d := Detail{n.summary(r, lang), r.Abstract.in(lang), r.Contact, r.Website, r.Amended.UTC().Format(time.RFC3339)}
	return writeTagged(c, d, r.ID+r.Amended.String())
}

func (n *Node) listFunders(c *fiber.Ctx) error {
	return writeTagged(c, fiber.Map{"items": n.store.funders()}, "")
}

func (n *Node) getFunder(c *fiber.Ctx) error {
	f, ok := n.store.funder(c.Params("id"))
	if !ok {
		return apiError(c, 404, "not_found", "There is no such funder.")
	}
	return writeTagged(c, f, "")
}

func (n *Node) info(stage string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		g := c.Locals("grant").(*Grant)
		return writeJSON(c, fiber.Map{
			"service": "RIS-Portal Forschungsförderung", "environment": stage, "apiVersion": "v1",
			"account":   fiber.Map{"serviceAccountUserId": g.User, "affiliationId": g.Affiliation, "roles": g.Roles},
			"scopes":    g.Scopes,
			"expiresAt": g.Expires.UTC().Format(time.RFC3339),
			"endpoints": fiber.Map{"funding": []fiber.Map{{"name": "FUNDING", "majorVersion": 3, "minorVersion": 4, "url": n.root + prefix + "/funding/v3/calls"}}},
		})
	}
}

func (n *Node) apiDocs(c *fiber.Ctx) error {
	doc := strings.ReplaceAll(document, "%ROOT%", n.root)
	doc = strings.ReplaceAll(doc, `"%MAX%"`, strconv.Itoa(maxLimit()))
	doc = strings.ReplaceAll(doc, `"%DEFAULT%"`, strconv.Itoa(min(25, maxLimit())))
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		return err
	}
	return writeTagged(c, v, "")
}

func (n *Node) docs(c *fiber.Ctx) error {
	c.Set("Content-Type", "text/html; charset=utf-8")
	return c.SendString(`<!doctype html><html lang="en"><title>Funding API</title><h1>Funding API v3</h1><p><a href="` + n.root + prefix + `/funding/v3/api-docs">OpenAPI document</a></p></html>`)
}

func (n *Node) registry(c *fiber.Ctx) error {
	return writeJSON(c, fiber.Map{"member": []fiber.Map{{
		"id": "RPW", "acronym": "RPW", "name": "RIS-Portal West", "contact": "ris@portal-west.example",
		"oauth2": n.root + "/auth/realms/forschung/protocol/openid-connect/token",
		"info":   n.root + prefix + "/info/v1/oauth/info/",
	}}})
}
