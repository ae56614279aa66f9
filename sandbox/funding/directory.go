package funding

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
)

// The ids of the first node's entries in the registry.
const (
	// NodeID is the entry with the staging token endpoint.
	NodeID = "XA"
	// RealmNodeID is the same node with the token endpoint of the identity provider's realm.
	RealmNodeID = NodeID + realmSuffix

	realmSuffix = "_Realm"
)

// RegistryDocument serves the registry that entries returns. An origin is the base URL of the network as the caller sees it.
func RegistryDocument(places address.Map, entries func(origin string) model.Registry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := json.Marshal(entries(places.Origin(r)))
		if err != nil {
			content.Internal().Write(w, r)
			return
		}
		content.NewBody("application/json", body).Serve(w, r, content.OpenHeaders())
	})
}

// Member is the institution that runs a node, as its registry entry says.
type Member struct {
	// ID is the code of the entry.
	ID string
	// Acronym and Name are those of the institution.
	Acronym, Name string
	// Contact is an e-mail address.
	Contact string
}

// FirstMember returns the member of a network of one node.
func FirstMember() Member {
	return Member{ID: NodeID, Acronym: "MUST", Name: "Universität Musterstadt", Contact: "ris@must.example"}
}

// Entry returns the entry of a node with one token endpoint.
func (m Member) Entry(token, info string) model.Member {
	return model.Member{ID: m.ID, Acronym: m.Acronym, Name: m.Name, Contact: m.Contact, OAuth2: token, Info: info}
}

// Entries returns two entries for a node with two token endpoints (NET-R10), for a caller who sees it at origin: first the entry with the staging path
// of the interface document, then the one with the path of the identity provider.
func (m Member) Entries(places address.Map, origin string) []model.Member {
	realm := m
	realm.ID, realm.Name = m.ID+realmSuffix, m.Name+" (Realm)"
	return []model.Member{m.Entry(origin+places.Token(), origin+places.Info()), realm.Entry(origin+places.RealmToken(), origin+places.Info())}
}

// InventedMember returns a fictitious member for each number, and FirstMember for 0. No two have the same id, acronym, name or contact. Ids begin
// with X, because no country code does. As in real registries, one id looks like that of a test entry, and one name ends with a blank, which clients trim.
func InventedMember(index int) Member {
	if index == 0 {
		return FirstMember()
	}
	kinds, allTowns := institutions(), towns()
	kind, place := kinds[index%len(kinds)], allTowns[index%len(allTowns)]
	round := index / (len(kinds) * len(allTowns)) // how often this pair was used before
	m := Member{ID: memberCode(index), Acronym: kind.acronym + place.acronym, Name: strings.Replace(kind.name, "%", place.name, 1)}
	if round > 0 {
		m.Acronym += strconv.Itoa(round + 1)
		m.Name += " " + strconv.Itoa(round+1)
	}
	m.Contact = "ris@" + strings.ToLower(m.Acronym) + ".example"
	switch index {
	case testMember:
		m.ID += "_Test"
	case blankMember:
		m.Name += " "
	}
	return m
}

// The numbers of the two members that have irregular values, as some real entries do: the id of a test entry, and a name that ends with a blank.
const (
	testMember  = 3
	blankMember = 2
)

// memberCode returns the id for a number: XA, XB … XZ, XAA, XAB …
func memberCode(index int) string {
	const letters = 26
	if index < letters {
		return "X" + string(rune('A'+index))
	}
	return memberCode(index/letters-1) + string(rune('A'+index%letters))
}

// institution is a kind of institution; "%" in its name is the place.
type institution struct{ acronym, name string }

// institutions lists the kinds. The lengths of this table and of towns have no common divisor, so that each kind is combined with each town before a
// pair repeats.
func institutions() []institution {
	return []institution{
		{"U", "Universität %"},
		{"TU", "Technische Universität %"},
		{"FF", "Forschungsfonds %"},
		{"UAS", "University of Applied Sciences %"},
		{"MU", "Medizinische Universität %"},
		{"IA", "Innovationsagentur %"},
		{"KU", "Kunstuniversität %"},
		{"PH", "Pädagogische Hochschule %"},
		{"RI", "Research Institute %"},
		{"AK", "Akademie der Wissenschaften %"},
		{"FN", "Foundation for Research %"},
	}
}

// town is a fictitious town.
type town struct{ acronym, name string }

// towns lists the towns.
func towns() []town {
	return []town{
		{"MS", "Musterstadt"},
		{"MB", "Musterberg"},
		{"BW", "Beispielwald"},
		{"PA", "Probenau"},
		{"NW", "Nirgendwörth"},
		{"OE", "Oberexempel"},
		{"MH", "Modellhofen"},
		{"SF", "St. Fingierten"},
		{"GA", "Grundannahme"},
		{"TH", "Theorieheim"},
		{"VD", "Vordenk an der These"},
		{"HY", "Hypothal"},
		{"EX", "Exemplach"},
	}
}

// infoBudget limits the bytes of cached bodies; there is a body for each origin that callers use.
const infoBudget = 16 << 10

// MoreEndpoints are the endpoints of an API besides the node's own.
type MoreEndpoints struct {
	List []InfoEndpoint
	// Version is equal for equal lists: the list may change while the node serves.
	Version any
	// ReplacesOwn reports that the list replaces the endpoints of the node's own API.
	ReplacesOwn bool
}

// InfoEndpoint is an endpoint of an API.
type InfoEndpoint struct {
	// Family is the key under which the endpoint is listed: funding, project, orgUnit, or another one.
	Family, Name string
	Major        int
	// Path is below the node's service prefix.
	Path string
}

// InfoResource serves the endpoints of the node at places, with absolute URLs as the caller sees the node. open reports that no token is needed; it
// determines the caching headers.
func InfoResource(places address.Map, open bool, endpoints func() MoreEndpoints) http.Handler {
	headers := content.ProtectedHeaders()
	if open {
		headers = content.OpenHeaders()
	}
	type key struct {
		origin  string
		version any
	}
	cache := content.NewCache[key, *content.Body](infoBudget)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := places.Origin(r)
		more := endpoints()
		body, err := cache.Get(key{origin, more.Version}, func() (*content.Body, error) {
			encoded, err := json.Marshal(InfoDocument(places, origin, more))
			if err != nil {
				return nil, err
			}
			return content.NewBody("application/json", encoded), nil
		})
		if err != nil {
			content.Internal().Write(w, r)
			return
		}
		body.Serve(w, r, headers)
	})
}

// InfoDocument returns the content of the info resource for a caller who sees the node at origin.
func InfoDocument(places address.Map, origin string, more MoreEndpoints) model.Info {
	own := []model.Endpoint{
		{Name: "FUNDINGS", MajorVersion: 3, MinorVersion: 0, URL: origin + places.Fundings()},
		{Name: "FUNDING", MajorVersion: 3, MinorVersion: 0, URL: origin + places.Funding()},
	}
	all := model.Info{Endpoints: map[string][]model.Endpoint{}}
	if !more.ReplacesOwn {
		all.Endpoints["funding"] = own
	}
	for _, e := range more.List {
		endpoint := model.Endpoint{Name: e.Name, MajorVersion: int32(e.Major), URL: origin + places.API() + e.Path}
		if !more.ReplacesOwn && e.Family == "funding" && (endpoint.URL == own[0].URL || endpoint.URL == own[1].URL) {
			continue // the API serves this URL instead of the node, but the URL is listed already
		}
		all.Endpoints[e.Family] = append(all.Endpoints[e.Family], endpoint)
	}
	return all
}
