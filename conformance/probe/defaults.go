package probe

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// maxDefaults bounds the parameters whose default is sent.
const maxDefaults = 4

// defaultCases returns the requests with the documented default of each parameter that may select items: it must not change the list.
func defaultCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		if value, ok := writtenDefault(p); ok && len(out) < maxDefaults {
			out = append(out, row{Label: evidence.ListOperation.With(evidence.DefaultCase(p.Name)), Plan: in(stageRest, stageRead, stagePages).onlyIf(notQuick).onDemand(),
				Send: choose(func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
					return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, maxWalkSize), map[string]string{"parameter": p.Name, "value": value, "default": "true"}}, nil
				})})
		}
	}
	return out
}

// writtenDefault returns the documented default of an optional boolean or text of the query. It leaves out pages, orders, dates and numbers: a bound of 0 may leave out
// items without the number.
func writtenDefault(p openapi.Parameter) (value string, ok bool) {
	s := p.Schema
	if p.In != "query" || p.Required || openapi.RoleOf(p) != "" || isAboutAnswer(p.Name) || s.Format != "" || len(s.Default) == 0 {
		return "", false
	}
	switch s.Type {
	case "boolean":
		var flag bool
		ok = json.Unmarshal(s.Default, &flag) == nil && string(s.Default) != "null"
		return strconv.FormatBool(flag), ok
	case "string":
		ok = json.Unmarshal(s.Default, &value) == nil && value != "" && len(value) <= maxScalar && (len(s.Enum) == 0 || slices.Contains(s.Enum, value))
	}
	return value, ok
}
