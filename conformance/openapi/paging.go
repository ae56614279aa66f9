package openapi

import (
	"slices"
	"strconv"
	"strings"
)

// Role is the purpose of a query parameter of a list, found by its name and type. Frameworks use the same few names, in different spellings and languages.
type Role string

// The roles. A parameter without one is a filter, or something else.
const (
	SizeRole   Role = "size"   // how many items
	PageRole   Role = "page"   // which page, by number
	SkipRole   Role = "skip"   // how many items come before the page
	CursorRole Role = "cursor" // where the page begins, in the node's own words
	SortRole   Role = "sort"
)

// RoleOf returns the role of a query parameter, or "". The name of a member of a deep object includes the name of the object ("page[size]").
func RoleOf(p Parameter) Role {
	name := joinedName(p.Name)
	numeric := p.Schema.Type == "integer" || p.Schema.Type == "number" || numbersOnly(p.Schema.Enum)
	numberOrText := numeric || p.Schema.Type == "" || p.Schema.Type == "string" && len(p.Schema.Enum) == 0 && p.Schema.Format == ""
	if numeric { // a text of such a name is more often a filter
		name = pagingName(p.Name)
	}
	switch {
	case p.In != "query" && p.In != "":
		return ""
	case numberOrText && slices.Contains(sizeNames(), name), numeric && slices.Contains([]string{"max", "top", "count", "take", "rows", "length", "number", "n"}, name):
		return SizeRole
	case numberOrText && slices.Contains(skipNames(), name), numeric && slices.Contains([]string{"start", "from", "first"}, name):
		return SkipRole
	case numberOrText && slices.Contains(pageNames(), name), numeric && name == "p":
		return PageRole
	case !numeric && numberOrText && slices.Contains(cursorNames(), name):
		return CursorRole
	case !numeric && (slices.Contains(sortNames(), name) || hasOpposites(p.Schema)):
		return SortRole
	}
	return ""
}

func sizeNames() []string {
	return []string{"size", "limit", "pagesize", "pagelimit", "perpage", "pageperpage", "itemsperpage", "resultsperpage", "recordsperpage", "entriesperpage", "hitsperpage",
		"maxresults", "maxitems", "maxrecords", "maxresultcount", "batchsize", "maxpagesize", "pagetop", "pagetake", "pagecount"}
}

func skipNames() []string {
	return []string{"offset", "skip", "pageoffset", "pageskip", "pagestart", "startindex", "startat", "startrow", "firstresult", "startposition"}
}

func pageNames() []string {
	return []string{"page", "pagepage", "pagenumber", "pageno", "pagenum", "pagenr", "pageindex", "currentpage", "pagecurrent"}
}

func cursorNames() []string {
	return []string{"cursor", "after", "pagetoken", "nextcursor", "nexttoken", "nextpagetoken", "continuation", "continuationtoken", "pagecursor", "pageafter", "startingafter",
		"searchafter", "startafter", "scrollid", "resumptiontoken", "marker", "skiptoken"}
}

func sortNames() []string {
	return []string{"sort", "sortby", "order", "orderby", "sortorder", "ordering", "sorting"}
}

// IsSortName reports whether the name of a parameter says that it sorts. Other parameters have [SortRole] because of the values of their enum.
func IsSortName(name string) bool { return slices.Contains(sortNames(), joinedName(name)) }

func numbersOnly(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { _, err := strconv.Atoi(w); return err != nil })
}

// QueryParameters returns the query parameters of an operation. An object is replaced by its members in the style deepObject ("page[size]", OAS 3.0.3).
func (o Operation) QueryParameters() []Parameter {
	var out []Parameter
	for _, p := range o.Parameters {
		switch {
		case p.In != "query":
		case len(p.Schema.Properties) == 0:
			out = append(out, p)
		default:
			for _, member := range sortedKeys(p.Schema.Properties) {
				out = append(out, Parameter{Name: p.Name + "[" + member + "]", In: "query", Schema: p.Schema.Properties[member], Description: p.Description})
			}
		}
	}
	return out
}

// QueryWithRole tries the roles in order and returns the query parameter that has the role. If several have it, it prefers the network's own name
// (page[…]), then the first in the document.
func (o Operation) QueryWithRole(roles ...Role) (Parameter, bool) {
	for _, role := range roles {
		var found []Parameter
		for _, p := range o.QueryParameters() {
			if RoleOf(p) == role {
				found = append(found, p)
			}
		}
		if i := slices.IndexFunc(found, func(p Parameter) bool { return strings.HasPrefix(p.Name, "page[") }); i >= 0 {
			return found[i], true
		}
		if len(found) > 0 {
			return found[0], true
		}
	}
	return Parameter{}, false
}
