package described

import (
	"slices"
	"strings"
)

// Document is the path of the document below the node's service prefix: behind the path of its server, and the version if all
// operations begin with one, "/funding/v1/api-docs".
func (a *API) Document() string { return a.ownPath }

func (a *API) documentPath() string {
	at := seam(a.prefix, a.document.Server)
	version := ""
	for i, r := range a.all {
		first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.path, at), "/"), "/")
		if !isVersion(first) || i > 0 && first != version {
			return at + "/api-docs"
		}
		version = first
	}
	return at + "/" + version + "/api-docs"
}

// isVersion tells a segment of the form v<major> (NET-R20).
func isVersion(segment string) bool {
	digits, ok := strings.CutPrefix(segment, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Endpoint is an operation of the API that the info resource of a node names.
type Endpoint struct {
	// Family is funding, project or orgUnit, or made of the title of the document.
	Family string
	// Name is what the operation gives, in capitals: FUNDINGS.
	Name string
	// Major is the version in the path; 1 without one.
	Major int
	// Path is below the node's service prefix; that of a detail ends in {id}.
	Path string
}

// Endpoints are the lists of the API with their details; without a list, all that is asked for without a parameter in the path.
func (a *API) Endpoints() []Endpoint {
	var all []Endpoint
	add := func(r *resource, name string) {
		path := r.path
		if parameter := strings.LastIndex(path, "{"); parameter >= 0 {
			path = path[:parameter] + "{id}"
		}
		all = append(all, Endpoint{Family: a.family(r), Name: name, Major: major(r), Path: path})
	}
	for _, r := range a.all {
		o := r.operations["GET"]
		if o == nil || o.list == nil || strings.Contains(r.path, "{") {
			continue
		}
		name := strings.ToUpper(canonical(last(r.segments)))
		add(r, name)
		if o.list.detail != nil {
			add(o.list.detail.resource, singular(name))
		}
	}
	return all
}

func last(segments []string) string { return segments[len(segments)-1] }

func singular(name string) string {
	if stem, ok := strings.CutSuffix(name, "IES"); ok {
		return stem + "Y"
	}
	return strings.TrimSuffix(name, "S")
}

func major(r *resource) int {
	for _, segment := range r.segments {
		if isVersion(segment) {
			n := 0
			for _, digit := range segment[1:min(len(segment), 6)] {
				n = 10*n + int(digit-'0')
			}
			return n
		}
	}
	return 1
}

// family is that of the network whose name the path has (NET-R20: /ris-synergy/funding/v3), or the first word of the path.
func (a *API) family(r *resource) string {
	text := canonical(r.path + " " + a.document.Title)
	for _, known := range [][2]string{{"funding", "funding"}, {"project", "project"}, {"orgunit", "orgUnit"}, {"organigram", "orgUnit"}} {
		if strings.Contains(text, known[0]) {
			return known[1]
		}
	}
	segments := slices.DeleteFunc(slices.Clone(r.segments), func(s string) bool { return isVersion(s) || strings.Contains(s, "{") })
	if len(segments) == 0 {
		return "api"
	}
	return segments[0]
}
