package funding

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// Service serves the funding resources, for permitted accounts and, as the try-out space, for anybody.
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

// viewer answers a request on behalf of an affiliation; empty is the try-out space.
type viewer func(w http.ResponseWriter, r *http.Request, affiliation string, headers representation.Headers)

// Permit lets accounts with role and affiliation pass to another API of the node; the caller has passed the guard.
func (s *Service) Permit(next http.Handler) http.Handler {
	return s.permitted(func(w http.ResponseWriter, r *http.Request, _ string, _ representation.Headers) { next.ServeHTTP(w, r) })
}

// permitted lets accounts with role and affiliation pass (NET-R17); the caller has passed the guard.
func (s *Service) permitted(view viewer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		principal, _ := auth.Caller(r.Context())
		account, refused := check(s.accounts, principal)
		if refused.detail != "" {
			s.guard.Forbid(w, r, refused.detail, refused.hint)
			return
		}
		view(w, r, account.Affiliation, representation.Guarded())
	})
}

func open(view viewer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { view(w, r, "", representation.Open()) })
}

// UntilClosing is how long it takes until the first of the running calls closes; ok is false when none ever does.
func (s *Service) UntilClosing() (d time.Duration, ok bool) {
	now := s.now()
	when, ok := s.store.index().closing(now)
	return when.Sub(now), ok
}

// List is the guarded list of fundings.
func (s *Service) List() http.Handler { return s.permitted(s.list) }

// Detail is one guarded funding.
func (s *Service) Detail() http.Handler { return s.permitted(s.detail) }

// OpenList is the list of the try-out space (NET-R4).
func (s *Service) OpenList() http.Handler { return open(s.list) }

// OpenDetail is one funding of the try-out space.
func (s *Service) OpenDetail() http.Handler { return open(s.detail) }

func (s *Service) list(w http.ResponseWriter, r *http.Request, affiliation string, headers representation.Headers) {
	q, ignored, fault := parseQuery(r.URL.RawQuery, s.paging)
	note := journal.Of(r.Context())
	note.Ignore(ignored)
	if fault != nil {
		fault.Write(w, r)
		return
	}
	now := s.now()
	if q.short() {
		page, err := s.store.page(q, now, affiliation)
		if err != nil {
			s.log.Error("page not encoded", "error", err)
			problem.Internal().Write(w, r)
			return
		}
		note.Serve(page.place.noted(q))
		w.Header().Set("Link", q.links(r.URL, s.paging, page.place))
		page.Serve(w, r, headers)
		return
	}
	chosen := s.store.find(q, now)
	note.Serve(chosen.noted(q))
	if links := q.links(r.URL, s.paging, chosen); links != "" {
		w.Header().Set("Link", links)
	}
	representation.Stream(w, r, "application/json", headers, s.store.seed(q, chosen.since, affiliation), func(out io.Writer) error {
		err := s.store.write(out, chosen, affiliation)
		if err != nil {
			s.log.Warn("list not sent to its end", "error", err)
		}
		return err
	})
}

func (s *Service) detail(w http.ResponseWriter, r *http.Request, affiliation string, headers representation.Headers) {
	body, found, err := s.store.detail(r.PathValue("id"), affiliation)
	switch {
	case err != nil:
		s.log.Error("record not encoded", "error", err)
		problem.Internal().Write(w, r)
	case !found:
		problem.NotFound("there is no funding with this id", "the list of fundings names the ids that exist").Write(w, r)
	default:
		body.Serve(w, r, headers)
	}
}
