// Package funding is the funding service of the node (NET-R2): the store of fundings, their filters and pages, and the resource handlers. It also
// serves the registry and the info resource, by which clients find the service (NET-R6, NET-R13). It has its own list of service
// accounts with role and affiliation (NET-R17), apart from the clients of the authorization server. A call of a client that the
// authorization server does not know is answered with 401, a call of an account that is not in this list with 403.
package funding

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// Service serves the funding resources, to permitted accounts and, as the try-out space, to everybody.
type Service struct {
	store    *Store
	accounts Accounts
	guard    *auth.Guard
	paging   Paging
	now      func() time.Time
	log      *slog.Logger
}

// NewService makes the funding service.
func NewService(store *Store, accounts Accounts, guard *auth.Guard, paging Paging, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, accounts: accounts, guard: guard, paging: paging, now: now, log: log}
}

// viewer answers a request on behalf of an affiliation, which is empty in the try-out space.
type viewer func(w http.ResponseWriter, r *http.Request, affiliation string, headers content.Headers)

// Permit admits accounts with role and affiliation to another API of the node. Its requests must have passed the guard.
func (s *Service) Permit(next http.Handler) http.Handler {
	return s.requirePermission(func(w http.ResponseWriter, r *http.Request, _ string, _ content.Headers) { next.ServeHTTP(w, r) })
}

// requirePermission admits accounts with role and affiliation (NET-R17). Its requests must have passed the guard.
func (s *Service) requirePermission(view viewer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		principal, _ := auth.Caller(r.Context())
		account, refused := checkAccount(s.accounts, principal)
		if refused.detail != "" {
			s.guard.Forbid(w, r, refused.detail, refused.hint)
			return
		}
		view(w, r, account.Affiliation, content.ProtectedHeaders())
	})
}

// tryOut admits every caller.
func tryOut(view viewer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { view(w, r, "", content.OpenHeaders()) })
}

// UntilClosing returns how long it takes until the first of the open calls closes; ok is false when none does.
func (s *Service) UntilClosing() (d time.Duration, ok bool) {
	now := s.now()
	when, ok := s.store.index().nextClosing(now)
	return when.Sub(now), ok
}

// List serves the protected list of fundings.
func (s *Service) List() http.Handler { return s.requirePermission(s.list) }

// Detail serves one protected funding.
func (s *Service) Detail() http.Handler { return s.requirePermission(s.detail) }

// OpenList serves the list of the try-out space (NET-R4).
func (s *Service) OpenList() http.Handler { return tryOut(s.list) }

// OpenDetail serves one funding of the try-out space.
func (s *Service) OpenDetail() http.Handler { return tryOut(s.detail) }

// list answers with the requested page, or the whole list. A short page comes from the cache; a longer one is streamed.
func (s *Service) list(w http.ResponseWriter, r *http.Request, affiliation string, headers content.Headers) {
	q, ignored, fault := parseQuery(r.URL.RawQuery, s.paging)
	note := journal.FromContext(r.Context())
	note.Ignore(ignored)
	if fault != nil {
		fault.Write(w, r)
		return
	}
	now := s.now()
	if q.isShort() {
		page, err := s.store.page(q, now, affiliation)
		if err != nil {
			s.log.Error("page not encoded", "error", err)
			content.Internal().Write(w, r)
			return
		}
		note.Serve(page.selection.journalPage(q))
		w.Header().Set("Link", q.links(r.URL, s.paging, page.selection))
		page.Serve(w, r, headers)
		return
	}
	chosen := s.store.find(q, now)
	note.Serve(chosen.journalPage(q))
	if links := q.links(r.URL, s.paging, chosen); links != "" {
		w.Header().Set("Link", links)
	}
	content.Stream(w, r, "application/json", headers, s.store.seed(q, chosen.since, affiliation), func(out io.Writer) error {
		err := s.store.write(out, chosen, affiliation)
		if err != nil {
			s.log.Warn("list not sent to its end", "error", err)
		}
		return err
	})
}

func (s *Service) detail(w http.ResponseWriter, r *http.Request, affiliation string, headers content.Headers) {
	body, found, err := s.store.detail(r.PathValue("id"), affiliation)
	switch {
	case err != nil:
		s.log.Error("record not encoded", "error", err)
		content.Internal().Write(w, r)
	case !found:
		content.NotFound("there is no funding with this id", "the list of fundings names the ids that exist").Write(w, r)
	default:
		body.Serve(w, r, headers)
	}
}

// Account is the entry of a service account in the funding service (NET-R17).
type Account struct {
	// Role must be EXTERNAL_API_CLIENT to read fundings.
	Role string
	// Affiliation is the client's affiliation ID, an opaque string; it must be set.
	Affiliation string
}

// AccountKey identifies an account: by its service account user ID for the node's own tokens, by issuer and client id for those of a foreign
// issuer.
type AccountKey struct {
	// ForeignIssuer is empty for the node's own authorization server.
	ForeignIssuer string
	// Name is the subject of own tokens, the client id of foreign ones.
	Name string
}

// Accounts is the list of service accounts that the funding service keeps. It must be safe for concurrent use, and fast, because the service uses it
// for each request.
type Accounts interface {
	// Account returns an account; known is false if the list does not have it.
	Account(key AccountKey) (account Account, known bool)
}

// keyOf returns the key of a principal's account.
func keyOf(p auth.Principal) AccountKey {
	if p.ForeignIssuer != "" {
		return AccountKey{ForeignIssuer: p.ForeignIssuer, Name: p.ClientID}
	}
	return AccountKey{Name: p.Subject}
}

// denial says why an account may not read fundings, and how to change that; it is empty when the account may read them.
type denial struct{ detail, hint string }

// checkAccount returns the account of a principal, and why the account may not read fundings.
func checkAccount(accounts Accounts, p auth.Principal) (Account, denial) {
	account, known := accounts.Account(keyOf(p))
	switch {
	case !known:
		return account, denial{"the service account of the token is not known to the funding service",
			"the operator of the funding service adds the account, with role " + model.RoleExternalAPIClient + " and its affiliation ID"}
	case account.Role != model.RoleExternalAPIClient:
		return account, denial{"the service account lacks the role " + model.RoleExternalAPIClient,
			"the token is good; the operator of the funding service grants the role to the service account"}
	case account.Affiliation == "":
		return account, denial{"the service account has no affiliation ID",
			"the token is good; the operator of the funding service sets the affiliation ID of the service account"}
	}
	return account, denial{}
}
