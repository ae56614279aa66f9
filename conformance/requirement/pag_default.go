package requirement

import (
	"regexp"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// otherDefaults finds parameters whose documented default is not the real one, for PAG-07: the complete list without the parameter has other items than with the
// default. "The default value represents what would be assumed by the consumer of the input as the value of the schema if one is not provided" (OAS 3.0.3, Schema
// Object).
func otherDefaults(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	whole, complete := wholeList(e)
	if !known || !complete || len(whole) < 2 || e.unsteady() {
		return nil
	}
	contradicts := regexp.MustCompile(`(?i)\b(without|omitted|absent|missing|unset|not (given|sent|set)|left out|if none|ohne|fehlt|weggelassen|nicht (angegeben|gesetzt))\b`)
	var parts []Judgement
	for _, p := range o.QueryParameters() {
		x, sent := e.Get(e.Roles.List.With(evidence.DefaultCase(p.Name)))
		if !sent || !success(x) || !isCompleteAnswer(e, x) || contradicts.MatchString(p.Description) || someAnonymous(e, []evidence.Exchange{x}) {
			continue
		}
		ids := listPageOf(e, x).Items
		lost, more := withoutRemoved(e, openapi.Missing(e.identities(whole), ids)), openapi.Missing(ids, e.identities(whole))
		if len(lost) == 0 && len(more) == 0 {
			continue
		}
		j := expect(x, "the list without "+clip(p.Name)+": "+evidence.Count(len(whole), "item")).
			failed("the document says that the default of "+clip(p.Name)+" is "+clip(x.Given["value"])+", and the list without the parameter is another one", evidence.Count(len(ids), "item")).
			Hinting("describe the default that the node assumes, or assume the described one (OAS 3.0.3 Schema Object, default)").Seen(e.Roles.List.With(evidence.OK))
		if len(lost)+len(more) == 1 {
			j.Outcome = Warn // one record may have been published or removed meanwhile
		}
		parts = append(parts, j)
	}
	return parts
}
