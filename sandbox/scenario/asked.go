package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/problem"
)

// maxAsked is the number of scenarios that one request may ask for.
const maxAsked = 8

// Asked puts before a node whatever scenarios a request asks for itself, in the field [Header]: each such request is struck, without an
// end. Other requests pass. A name that is unknown, or of a scenario that does not strike such a request, is answered 400.
func (s *Stage) Asked(node http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields := r.Header.Values(Header)
		if len(fields) == 0 {
			node.ServeHTTP(w, r)
			return
		}
		kind := kindOf(s.env.Places, r.URL.Path)
		wanted, err := asked(*s.named.Load(), fields, kind)
		if err != nil {
			problem.BadRequest(err.Error(), "rin sandbox --scenarios lists them, and what each strikes").Write(w, r)
			return
		}
		s.strike(wanted, kind, node, w, r)
	})
}

// forget begins anew what requests may ask for.
func (s *Stage) forget() {
	named := map[string]*running{}
	for _, scenario := range All() {
		named[scenario.Name] = begin(Play{Name: scenario.Name, Wait: scenario.Wait}, scenario)
	}
	s.named.Store(&named)
}

// asked finds the plays that a request of a kind asks for.
func asked(named map[string]*running, fields []string, kind Kind) ([]*running, error) {
	names := strings.FieldsFunc(strings.Join(fields, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	if len(names) > maxAsked {
		return nil, fmt.Errorf("%s asks for %d scenarios: expected %d at most", Header, len(names), maxAsked)
	}
	var wanted []*running
	for _, name := range names {
		if _, err := Find(name); err != nil {
			return nil, fmt.Errorf("%s: %w", Header, err)
		}
		p := named[name]
		if !slices.Contains(p.scenario.kinds(), kind) {
			return nil, fmt.Errorf("%s: scenario %s does not strike such a request: expected one of %s", Header, name, joined(p.scenario.kinds()))
		}
		wanted = append(wanted, p)
	}
	return wanted, nil
}
