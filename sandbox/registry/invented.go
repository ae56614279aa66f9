package registry

import (
	"strconv"
	"strings"
)

// Invented is a member that exists nowhere: the first for 0, and for every other number another one, with an id, an acronym, a name and an
// address of its own. Ids are country codes that nobody has been given. As in a registry of the field, one id looks like a test
// entry's and one name ends with a blank, which clients trim.
func Invented(index int) Member {
	if index == 0 {
		return First()
	}
	kinds, places := kinds(), places()
	kind, place, round := kinds[index%len(kinds)], places[index%len(places)], index/(len(kinds)*len(places))
	m := Member{ID: code(index), Acronym: kind.acronym + place.acronym, Name: strings.Replace(kind.name, "%", place.name, 1)}
	if round > 0 {
		m.Acronym += strconv.Itoa(round + 1)
		m.Name += " " + strconv.Itoa(round+1)
	}
	m.Contact = "ris@" + strings.ToLower(m.Acronym) + ".example"
	switch index {
	case testEntry:
		m.ID += "_Test"
	case blankName:
		m.Name += " "
	}
	return m
}

// The numbers of the members that are written as real ones are.
const (
	testEntry = 3
	blankName = 2
)

// code is XA, XB … XZ, XAA, XAB …
func code(index int) string {
	const letters = 26
	if index < letters {
		return "X" + string(rune('A'+index))
	}
	return code(index/letters-1) + string(rune('A'+index%letters))
}

// institution is what a member may be; "%" in its name is the place.
type institution struct{ acronym, name string }

// The lengths of the two tables have no common divisor, so that each kind meets each place before a pair comes again.
func kinds() []institution {
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

// place is a place that no map has.
type place struct{ acronym, name string }

func places() []place {
	return []place{
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
