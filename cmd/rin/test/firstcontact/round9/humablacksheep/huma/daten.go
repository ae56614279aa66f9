package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata"
)

// Text is a text in two languages.
type Text struct {
	De string `json:"de" doc:"deutsch"`
	En string `json:"en,omitempty" doc:"englisch"`
}

// Betrag is an amount of money.
type Betrag struct {
	Wert     float64 `json:"wert" minimum:"0" doc:"Betrag mit höchstens zwei Nachkommastellen"`
	Waehrung string  `json:"waehrung" enum:"EUR,CHF"`
}

// Kontakt is the person or office that answers questions.
type Kontakt struct {
	Name    string `json:"name"`
	EMail   string `json:"email" format:"email"`
	Telefon string `json:"telefon,omitempty"`
}

// Kurzfassung is what the list shows of a call.
type Kurzfassung struct {
	Kennung       string   `json:"id" doc:"Eindeutige Kennung der Ausschreibung" example:"ALP-2025-0100"`
	Titel         Text     `json:"titel"`
	Foerdergeber  string   `json:"foerdergeber" doc:"Kürzel des Fördergebers"`
	Status        string   `json:"status" enum:"GEPLANT,OFFEN,LAUFEND,GESCHLOSSEN" doc:"LAUFEND: Einreichung jederzeit, ohne Frist"`
	Zielgruppen   []string `json:"zielgruppen" enum:"HOCHSCHULE,UNTERNEHMEN,EINZELPERSON,NGO,GEMEINDE"`
	Beginn        string   `json:"beginn" format:"date" doc:"Erster Tag der Einreichung"`
	Einreichfrist string   `json:"einreichfrist,omitempty" format:"date-time" doc:"Ende der Einreichung (RFC 3339); in Liste und Einzelabruf derselbe Zeitpunkt. Fehlt nur beim Status LAUFEND."`
	Foerdersumme  Betrag   `json:"foerdersumme"`
	Eigenanteil   float64  `json:"eigenanteilProzent" minimum:"0" maximum:"100" doc:"Eigenanteil in Prozent; 0 heißt voll gefördert"`
	GeaendertAm   string   `json:"geaendertAm" format:"date-time"`
}

// Ausschreibung is a whole call.
type Ausschreibung struct {
	Kurzfassung
	Beschreibung   Text     `json:"beschreibung"`
	Schlagworte    []string `json:"schlagworte"`
	MaxDauerMonate int32    `json:"maxDauerMonate" minimum:"1"`
	Antraege       int32    `json:"antraege" minimum:"0" doc:"Zahl der bisher eingegangenen Anträge, laufend gezählt"`
	Webseite       string   `json:"webseite" format:"uri"`
	Kontakt        Kontakt  `json:"kontakt"`

	frist     time.Time // zero: no deadline
	geaendert time.Time
}

// Frist is one stage of a call.
type Frist struct {
	Art         string `json:"art" enum:"BEGINN,SKIZZE,VOLLANTRAG"`
	Bezeichnung Text   `json:"bezeichnung"`
	Zeitpunkt   string `json:"zeitpunkt" format:"date-time"`
}

// Foerdergeber is a funder.
type Foerdergeber struct {
	Kuerzel  string `json:"id"`
	Name     Text   `json:"name"`
	Land     string `json:"land" enum:"AT,DE,CH"`
	Webseite string `json:"webseite" format:"uri"`
	Anzahl   int32  `json:"anzahlAusschreibungen" doc:"Zahl der Ausschreibungen in diesem Knoten"`
}

var (
	wien    *time.Location
	datenMu sync.RWMutex
	bestand []*Ausschreibung // ordered by kennung
	geber   = []Foerdergeber{
		{Kuerzel: "ALP", Name: Text{"Alpenfonds für Klimaforschung", "Alpine Fund for Climate Research"}, Land: "CH", Webseite: "https://alpenfonds.example/"},
		{Kuerzel: "BKM", Name: Text{"Bundeskasse für Museen und Gedächtniseinrichtungen", ""}, Land: "AT", Webseite: "https://bkm.example/"},
		{Kuerzel: "DSF", Name: Text{"Düsseldorfer Stiftung Forschungsförderung", "Düsseldorf Research Foundation"}, Land: "DE", Webseite: "https://dsf.example/"},
		{Kuerzel: "LÖW", Name: Text{"Löwenstein-Stiftung", "Löwenstein Foundation"}, Land: "AT", Webseite: "https://loewenstein.example/"},
		{Kuerzel: "ÖFW", Name: Text{"Österreichischer Förderfonds Wissenschaft", "Austrian Science Support Fund"}, Land: "AT", Webseite: "https://oefw.example/"},
	}
	gruppen = []string{"HOCHSCHULE", "UNTERNEHMEN", "EINZELPERSON", "NGO", "GEMEINDE"}
	themen  = []Text{
		{"Gewässerökologie", "freshwater ecology"}, {"Künstliche Intelligenz", "artificial intelligence"},
		{"Übersetzungswissenschaft", "translation studies"}, {"Bodenschutz und Rückbau", "soil protection and restoration"},
		{"Straßenbau mit Holz", "timber road building"}, {"Frühe Neuzeit", "the early modern period"},
		{"Röntgenoptik", "X-ray optics"}, {"Pflege & Alter", "care & ageing"}, {"Quantensensorik (≥ 10 Qubits)", "quantum sensing (≥ 10 qubits)"},
		{"Gemüseanbau im Řeka-Tal", "vegetable growing in the Řeka valley"}, {"Öffentliche Gesundheit", "public health"},
	}
	formen = []Text{
		{"Einzelprojekte: %s", "Stand-alone projects: %s"}, {"Doktoratskolleg „%s“", "Doctoral programme “%s”"},
		{"Brückenschlag %s", "Bridging %s"}, {"Karriereförderung %s", "Careers in %s"},
	}
)

func zeitText(t time.Time) string { return t.In(wien).Format(time.RFC3339) }

func baue(i int) *Ausschreibung {
	g := geber[i%len(geber)]
	thema, form := themen[i%len(themen)], formen[(i/3)%len(formen)]
	beginn := time.Date(2025, 3, 1, 0, 0, 0, 0, wien).AddDate(0, 0, i*5+i%7)
	frist := time.Date(beginn.Year(), beginn.Month()+time.Month(3+i%6), 1+(i*11)%28, 12, 0, 0, 0, wien)
	switch i % 4 {
	case 1:
		frist = time.Date(frist.Year(), frist.Month(), 30-i%3*15, 23, 59, 59, 0, wien)
	case 2:
		frist = time.Date(frist.Year(), frist.Month(), 15, 14, 0, 0, 0, wien)
	}
	a := &Ausschreibung{frist: frist, geaendert: time.Date(2026, 1, 7, 8, 15, 0, 0, wien).Add(time.Duration(i*i%4000) * 37 * time.Minute)}
	status := "OFFEN"
	switch {
	case i%17 == 16:
		status, a.frist = "LAUFEND", time.Time{}
	case gestartet.Before(beginn):
		status = "GEPLANT"
	case gestartet.After(frist):
		status = "GESCHLOSSEN"
	}
	var zg []string
	for j, name := range gruppen {
		if (i+j*j)%3 == 0 || j == i%5 {
			zg = append(zg, name)
		}
	}
	waehrung := "EUR"
	if g.Land == "CH" {
		waehrung = "CHF"
	}
	anteil := []float64{20, 12.5, 50, 33.33, 25}[i%5]
	if i%29 == 23 || i > 130 && i%4 == 3 {
		anteil = 0
	}
	a.Kurzfassung = Kurzfassung{
		Kennung: fmt.Sprintf("%s-%d-%04d", strings.NewReplacer("Ö", "OE").Replace(g.Kuerzel), beginn.Year(), 100+i*3),
		Titel:   Text{fmt.Sprintf(form.De, thema.De), fmt.Sprintf(form.En, thema.En)}, Foerdergeber: g.Kuerzel, Status: status,
		Zielgruppen: zg, Beginn: beginn.Format(time.DateOnly),
		Foerdersumme: Betrag{float64((i*7919)%990+10)*1000 + float64(i%4)*0.25, waehrung}, Eigenanteil: anteil, GeaendertAm: zeitText(a.geaendert),
	}
	if !a.frist.IsZero() {
		a.Einreichfrist = zeitText(a.frist)
	}
	if i%9 == 4 {
		a.Titel.En = ""
	}
	a.Beschreibung = Text{De: fmt.Sprintf("Gefördert werden Vorhaben zum Thema %s. Die Förderung deckt Personal, Geräte und Reisen; eingereicht wird über das Portal. Größere Geräte über 5 000 € sind zu begründen.", thema.De),
		En: "Projects on " + thema.En + " are funded. Personnel, equipment and travel are covered."}
	a.Schlagworte = []string{thema.De, []string{"Grundlagenforschung", "Anwendung", "Weiterbildung"}[i%3]}
	a.MaxDauerMonate = []int32{12, 24, 36, 48, 60}[(i/2)%5]
	if status == "OFFEN" || status == "GESCHLOSSEN" || status == "LAUFEND" {
		a.Antraege = int32((i * 13) % 71)
	}
	a.Webseite = g.Webseite + "ausschreibung/" + fmt.Sprint(100+i*3)
	a.Kontakt = Kontakt{Name: []string{"Jürgen Weiß", "Zoë Åkesson", "Servicestelle Förderung", "Mária Kováčová"}[i%4], EMail: "foerderung@" + strings.TrimSuffix(strings.TrimPrefix(g.Webseite, "https://"), "/")}
	if i%3 != 1 {
		a.Kontakt.Telefon = fmt.Sprintf("+43 1 5550 %03d", i)
	}
	return a
}

func ladeDaten() {
	var err error
	if wien, err = time.LoadLocation("Europe/Vienna"); err != nil {
		panic(err)
	}
	for i := range 137 {
		bestand = append(bestand, baue(i))
	}
	ordne()
	if knoten == "live" || knoten == "etag" {
		go laufend()
	}
}

func ordne() {
	slices.SortFunc(bestand, func(a, b *Ausschreibung) int { return strings.Compare(a.Kennung, b.Kennung) })
	for i := range geber {
		geber[i].Anzahl = 0
		for _, a := range bestand {
			if a.Foerdergeber == geber[i].Kuerzel {
				geber[i].Anzahl++
			}
		}
	}
}

// laufend counts the applications that come in while calls are open.
func laufend() {
	for n := 1; ; n++ {
		time.Sleep(7 * time.Second)
		datenMu.Lock()
		for i, a := range bestand {
			if (a.Status == "OFFEN" || a.Status == "LAUFEND") && (i+n)%2 == 0 {
				neu := *a
				neu.Antraege++
				bestand[i] = &neu
			}
		}
		if knoten == "live" && n%4 == 0 && len(bestand) < 180 {
			neu := *bestand[len(bestand)-1]
			neu.Kennung = fmt.Sprintf("ÖFX-%d-%04d", 2027, 900+n)
			neu.geaendert = time.Now()
			neu.GeaendertAm = zeitText(neu.geaendert)
			bestand = append(bestand, &neu)
			ordne()
		}
		datenMu.Unlock()
	}
}

func auszug() []*Ausschreibung {
	datenMu.RLock()
	defer datenMu.RUnlock()
	return slices.Clone(bestand)
}

func finde(kennung string) *Ausschreibung {
	for _, a := range auszug() {
		if a.Kennung == kennung {
			return a
		}
	}
	return nil
}
