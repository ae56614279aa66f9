// A node of the network: oapi-codegen's server on net/http, go-oauth2 for the tokens.
package main

//go:generate oapi-codegen -config cfg.yaml openapi.yaml

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	middleware "github.com/oapi-codegen/nethttp-middleware"

	"oapinode/api"
)

// NODE names the variant.
var NODE = os.Getenv("NODE")

const (
	tokenPath        = "/auth/realms/verbund/protocol/openid-connect/token"
	certsPath        = "/auth/realms/verbund/protocol/openid-connect/certs"
	stagingTokenPath = "/vst-staging/oauth/token"
	infoPath         = "/vst/info/v1/oauth/info/"
	stagingInfoPath  = "/vst-staging/info/v1/oauth/info/"
	docsPath         = "/vst/funding/v3/api-docs"
	fundingPath      = "/vst/funding"
)

// reader allows GET, HEAD and OPTIONS; HEAD is GET (net/http leaves the content out).
func reader(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodOptions:
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			w.WriteHeader(204)
			return
		case http.MethodHead:
			r = r.Clone(r.Context())
			r.Method = http.MethodGet
		case http.MethodGet:
		default:
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			problem(w, 405, "This address knows GET, HEAD and OPTIONS.", "")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ---- the query --------------------------------------------------------------------------------------------------

var (
	dateRE   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	timeRE   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,30})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)
	intRE    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	numberRE = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// strict refuses what the validator and the binder would let through: values that come twice, empty ones, and other
// spellings of numbers, dates and booleans than JSON's and RFC 3339's.
func strict(doc *openapi3.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			problem(w, 400, "The query cannot be decoded.", "")
			return
		}
		for name, values := range q {
			if !utf8.ValidString(name + strings.Join(values, "")) {
				problem(w, 400, "The query is not UTF-8.", "")
				return
			}
		}
		item := doc.Paths.Value(strings.TrimPrefix(r.URL.Path, fundingPath))
		if item == nil { // no list
			next.ServeHTTP(w, r)
			return
		}
		for _, ref := range item.Get.Parameters {
			p := ref.Value
			values, there := q[p.Name]
			if !there {
				continue
			}
			v := values[0]
			bad := ""
			s := p.Schema.Value
			switch {
			case len(values) > 1:
				bad = "comes more than once"
			case v == "":
				bad = "is empty"
			case s.Type.Is("integer") && !intRE.MatchString(v), s.Type.Is("number") && !numberRE.MatchString(v):
				bad = "is not a number"
			case s.Type.Is("boolean") && v != "true" && v != "false":
				bad = "is neither true nor false"
			case s.Format == "date" && !dateRE.MatchString(v):
				bad = "is not a date"
			case s.Format == "date-time":
				if v = moment(v); v == "" {
					bad = "is not a date-time"
				}
			case s.Type.Is("string") && control(v):
				bad = "has control characters"
			}
			if bad != "" {
				problem(w, 400, "The parameter "+p.Name+" "+bad+".", p.Name)
				return
			}
			if s.Format == "date-time" {
				q.Set(p.Name, v)
			}
		}
		r.URL.RawQuery = q.Encode()
		next.ServeHTTP(w, r)
	})
}

// moment is a date-time of RFC 3339 in the form that time.Parse understands, or "". Go knows no leap seconds (they
// become the end of the second before) and no more than nine digits of a second (rounded up: at this moment or later).
func moment(v string) string {
	if v = strings.ToUpper(v); !timeRE.MatchString(v) {
		return ""
	}
	second, rest := v[17:19], v[19:]
	fraction := strings.TrimRight(rest[:strings.LastIndexAny(rest, "Z+-")], "0")
	zone := rest[strings.LastIndexAny(rest, "Z+-"):]
	if second == "60" {
		t, err := time.Parse(time.RFC3339, v[:17]+"59"+zone)
		if err != nil {
			return ""
		}
		if u := t.UTC(); u.Hour() != 23 || u.Minute() != 59 || u.Add(time.Second).Day() != 1 {
			return ""
		}
		return v[:17] + "59.999999999" + zone
	}
	if len(fraction) <= 10 {
		return v
	}
	t, err := time.Parse(time.RFC3339Nano, v[:19]+fraction[:10]+zone)
	if err != nil {
		return ""
	}
	if up := t.Add(1); up.Year() <= 9999 {
		t = up
	}
	return t.Format(time.RFC3339Nano)
}

func main() {
	log.SetFlags(0)
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	base := "http://127.0.0.1:" + port
	generate()

	realm := newRealm("verbund", base+"/auth/realms/verbund",
		&Account{"vst-import", "Zw!3+b=e/ck%2F&o:~Hn9", "sa-4401", "org-771", fundingAud, []string{role}},
		&Account{"vst-gast", "L%ek=k+er/&t!:~41%3D", "sa-4402", "org-772", fundingAud, nil},
		&Account{"vst-projekte", "Fl/u=ss:pf&er+d~!%26", "sa-4403", "org-773", projectsAud, []string{role}},
		&Account{"vst-reserve", "N%o:t=fa+ll/&kis!te~%7E", "sa-4404", "org-774", fundingAud, []string{role}})
	staging := newRealm("staging", base+"/vst-staging",
		&Account{"vst-probe", "Sp%ie:l=wi+e/se&!~%2B", "sa-9401", "org-779", stagingAud, []string{role}})

	doc, err := api.GetSwagger()
	if err != nil {
		log.Fatal(err)
	}
	doc.Servers = openapi3.Servers{{URL: base + fundingPath}}
	doc.Components.SecuritySchemes["verbund"].Value.Flows.ClientCredentials.TokenURL = base + tokenPath
	if NODE == "oapi-eibe" {
		doc.Info.Description += "- **Short pages.** A page is cut at a few kilobytes: it may hold fewer records than `size`\n" +
			"  allows although more follow. Only a missing rel=\"next\" says that it is the last.\n"
	}
	docBody := encode(doc)

	service := newService(base)
	routed, _ := api.GetSwagger()
	routed.Servers = nil
	badParameter := func(w http.ResponseWriter, err error) {
		name := ""
		var re *openapi3filter.RequestError
		var ip *api.InvalidParamFormatError
		if errors.As(err, &re) && re.Parameter != nil {
			name = re.Parameter.Name
		} else if errors.As(err, &ip) {
			name = ip.ParamName
		}
		problem(w, 400, "The parameter "+name+" cannot be used.", name)
	}
	validate := middleware.OapiRequestValidatorWithOptions(routed, &middleware.Options{
		Prefix: fundingPath,
		Options: openapi3filter.Options{
			SkipSettingDefaults: true,
			AuthenticationFunc:  func(ctx context.Context, in *openapi3filter.AuthenticationInput) error { return nil },
		},
		ErrorHandlerWithOpts: func(ctx context.Context, err error, w http.ResponseWriter, r *http.Request, o middleware.ErrorHandlerOpts) {
			if errors.Is(err, routers.ErrPathNotFound) {
				problem(w, 404, "There is nothing at this address.", "")
				return
			}
			badParameter(w, err)
		},
	})
	funding := api.HandlerWithOptions(service, api.StdHTTPServerOptions{
		BaseURL:          fundingPath,
		ErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, err error) { badParameter(w, err) },
	})
	funding = strict(routed, validate(funding))
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, _, no := realm.verify(r, fundingAud)
		if no == nil && !a.hasRole(role) {
			no = &denied{403, `Bearer realm="verbund", error="insufficient_scope", scope="` + scopeName + `"`,
				"The service account lacks the role " + role + "."}
		}
		if no != nil {
			w.Header().Set("WWW-Authenticate", no.challenge)
			problem(w, no.status, no.detail, "")
			return
		}
		funding.ServeHTTP(w, r)
	})

	static := func(body []byte) http.Handler {
		return reader(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			respond(w, r, "application/json", "", body, time.Time{})
		}))
	}
	info := func(m *Realm, audience string) http.Handler {
		return reader(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a, c, no := m.verify(r, audience)
			if no != nil {
				w.Header().Set("WWW-Authenticate", no.challenge)
				problem(w, no.status, no.detail, "")
				return
			}
			roles := a.Roles
			if roles == nil {
				roles = []string{}
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			w.Write(encode(map[string]any{"clientId": a.ClientID, "serviceAccountUserId": a.Subject,
				"affiliationId": a.Affiliation, "roles": roles, "tokenExpiresAt": c.ExpiresAt.UTC().Format(time.RFC3339),
				"endpoints": map[string]any{"VST": []any{map[string]any{"name": "FUNDINGS", "majorVersion": 3,
					"minorVersion": 4, "url": base + docsPath}}}}))
		}))
	}

	paths := map[string]http.Handler{
		"/registry/nodes.json": static(encode(map[string]any{"member": []any{map[string]string{"id": "VST",
			"acronym": "VST", "name": "Verbund Stromtal, Zweigstelle Süd", "contact": "ris@stromtal.example",
			"oauth2": base + tokenPath, "info": base + infoPath}}})),
		tokenPath:        http.HandlerFunc(realm.token),
		stagingTokenPath: http.HandlerFunc(staging.token),
		certsPath:        static(encode(realm.jwks())),
		"/.well-known/oauth-authorization-server/auth/realms/verbund": static(encode(
			realm.metadata(base+tokenPath, base+certsPath))),
		infoPath:        info(realm, fundingAud),
		stagingInfoPath: info(staging, stagingAud),
		docsPath:        static(docBody),
	}
	for path := range doc.Paths.Map() {
		if !strings.Contains(path, "{") {
			paths[fundingPath+path] = reader(guarded)
		}
	}
	oneCall := regexp.MustCompile(`^` + fundingPath + `/v3/calls/[^/]+$`)
	dots := regexp.MustCompile(`/\.\.?$`) // the mux would redirect
	root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if e := recover(); e != nil && e != http.ErrAbortHandler {
				log.Println("panic:", e)
				problem(w, 500, "", "")
			}
		}()
		h := paths[r.URL.Path]
		switch {
		case h != nil && r.URL.EscapedPath() == r.URL.Path:
			h.ServeHTTP(w, r)
		case oneCall.MatchString(r.URL.EscapedPath()) && !dots.MatchString(r.URL.EscapedPath()):
			reader(guarded).ServeHTTP(w, r)
		default:
			problem(w, 404, "There is nothing at this address.", "")
		}
	})
	srv := &http.Server{Addr: "127.0.0.1:" + port, Handler: root, ReadHeaderTimeout: 20 * time.Second,
		IdleTimeout: 60 * time.Second}
	fmt.Println("node", NODE, "on", srv.Addr)
	log.Fatal(srv.ListenAndServe())
}
