package openapi

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// pagingName translates the name of a paging parameter, a member of an envelope or a link relation into English, in lower case and without
// separators. Nodes may use names of their own language. It returns an unknown name untranslated.
func pagingName(name string) string {
	plain := joinedName(name)
	if english := englishWord(withoutMarks(plain)); english != "" {
		return english
	}
	return plain
}

// withoutMarks returns a text without diacritical marks: "größe" becomes "grosse", "próximo" becomes "proximo".
func withoutMarks(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return text // as are most
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
