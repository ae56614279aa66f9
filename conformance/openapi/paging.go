package openapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
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
	name := Joined(p.Name)
	numeric := p.Schema.Type == "integer" || p.Schema.Type == "number" || hasOnlyNumbers(p.Schema.Enum)
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
	case !numeric && numberOrText && slices.Contains(cursorNames(), name), numberOrText && slices.Contains(keysetNames(), Joined(p.Name)):
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

// keysetNames are names of parameters that take the id of the last item of a page, and give the items after it.
func keysetNames() []string {
	return []string{"afterid", "lastseenid", "startafterid", "startingafterid", "startingafter"}
}

// TakesLastID reports whether a cursor is the id of the last item of the page before, so that no answer needs to name it.
func (p Parameter) TakesLastID() bool {
	return slices.Contains(keysetNames(), Joined(p.Name)) && !regexp.MustCompile(`(?i)\b(?:opaque|encode[sd]?|token|undurchsichtig|kodiert)\b`).MatchString(p.Description)
}

func sortNames() []string {
	return []string{"sort", "sortby", "order", "orderby", "sortorder", "ordering", "sorting", "sortierung", "sortieren", "sortierennach", "sortiertnach", "reihenfolge", "tri", "ordre", "ordinamento", "orden", "sortering"}
}

// IsSortName reports whether the name of a parameter says that it sorts. Other parameters have [SortRole] because of the values of their enum.
func IsSortName(name string) bool { return slices.Contains(sortNames(), Joined(name)) }

func hasOnlyNumbers(words []string) bool {
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

// pagingName translates the name of a paging parameter, a member of an envelope or a link relation into English, in lower case and without
// separators. Nodes may use names of their own language. It returns an unknown name untranslated.
func pagingName(name string) string {
	plain := Joined(name)
	if english := englishWord(withoutMarks(plain)); english != "" {
		return english
	}
	return plain
}

// withoutMarks returns a text without diacritical marks: "größe" becomes "grosse", "próximo" becomes "proximo".
func withoutMarks(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return text // most texts
	}
	text = strings.NewReplacer("ß", "ss", "ø", "o", "æ", "ae", "ł", "l").Replace(text)
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}

// englishWord returns the English name for a word about pages in one of the languages of Europe's Latin alphabets, written without marks, or "".
func englishWord(word string) string {
	switch word {
	case "seite", "seitennr", "seitennummer", "seitenindex", "pagina", "paginanummer", "numeropagina", "numerodepagina", "numeropage",
		"numerodepage", "nopage", "sida", "sidnummer", "sidnr", "side", "sidenummer", "sidetall", "sivu", "sivunumero", "strona", "numerstrony",
		"stranka", "strana", "cislostranky", "oldal", "stranica", "lehekulg":
		return "page"
	case "anzahl", "seitengrosse", "seitengroesse", "groesse", "grosse", "proseite", "anzahlproseite", "eintrage", "eintraege", "taille",
		"taillepage", "tailledepage", "parpage", "nombre", "limite", "nombreparpage", "tamano", "tamanopagina", "tamanodepagina", "porpagina",
		"cantidad", "tamanho", "tamanhopagina", "tamanhodapagina", "quantidade", "dimensione", "dimensionepagina", "perpagina", "aantal",
		"aantalperpagina", "paginagrootte", "grootte", "antal", "antalpersida", "sidstorlek", "storlek", "antall", "antallperside",
		"sidestorrelse", "storrelse", "koko", "sivukoko", "rozmiar", "rozmiarstrony", "velikost", "velikoststranky", "meret", "velicina":
		return "pagesize"
	case "versatz", "startwert", "decalage", "desplazamiento", "deslocamento", "scostamento", "verschuiving", "forskyvning", "forskydning",
		"forskjutning", "siirtyma", "przesuniecie", "posun":
		return "offset"
	case "folgezeiger", "folgemarke", "curseursuivant", "siguientecursor", "proximocursor", "cursoresuccessivo", "volgendecursor":
		return "nextcursor"
	case "naechste", "nachste", "naechsteseite", "nachsteseite", "weiter", "folgende", "suivant", "suivante", "pagesuivante", "siguiente",
		"paginasiguiente", "proximo", "proxima", "proximapagina", "seguinte", "successivo", "successiva", "prossima", "prossimapagina", "volgende",
		"volgendepagina", "nasta", "nastasida", "neste", "nesteside", "naeste", "naesteside", "seuraava", "nastepna", "dalsi", "kovetkezo":
		return "next"
	case "vorige", "vorherige", "vorigeseite", "zuruck", "zurueck", "precedent", "precedente", "pageprecedente", "anterior", "paginaanterior",
		"vorigepagina", "foregaende", "forrige", "edellinen", "poprzednia", "predchozi", "elozo":
		return "prev"
	case "erste", "ersteseite", "premier", "premiere", "primera", "primero", "primeira", "primeiro", "prima", "eerste", "forsta", "forste",
		"ensimmainen", "pierwsza", "prvni", "elso":
		return "first"
	case "letzte", "letzteseite", "dernier", "derniere", "ultima", "ultimo", "laatste", "sista", "siste", "sidste", "viimeinen", "ostatnia",
		"posledni", "utolso":
		return "last"
	case "gesamt", "gesamtzahl", "gesamtanzahl", "insgesamt", "anzahlgesamt", "trefferzahl", "nombretotal", "totale", "nombrederesultats",
		"totalresultats", "totalderesultados", "totaleelementi", "totaalaantal", "totaal", "antaltotalt", "totalt", "antalltotalt", "yhteensa",
		"razem", "celkem", "osszesen":
		return "total"
	}
	return ""
}
