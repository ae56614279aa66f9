package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Suche holds the parameters of the list.
type Suche struct {
	Seite        int      `query:"seite" minimum:"1" maximum:"100000" default:"1" doc:"Seitennummer, ab 1"`
	ProSeite     int      `query:"proSeite" minimum:"1" maximum:"50" default:"20" doc:"Einträge je Seite"`
	Foerdergeber string   `query:"foerdergeber" maxLength:"20" doc:"Kürzel des Fördergebers"`
	Status       string   `query:"status" enum:"GEPLANT,OFFEN,LAUFEND,GESCHLOSSEN"`
	Zielgruppen  []string `query:"zielgruppe" enum:"HOCHSCHULE,UNTERNEHMEN,EINZELPERSON,NGO,GEMEINDE" maxItems:"5" doc:"Eine oder mehrere Zielgruppen; mindestens eine davon muss genannt sein"`
	FristAb      string   `query:"einreichfristAb" format:"date" doc:"Nur Ausschreibungen, deren Frist an diesem Tag (Wiener Zeit) oder später endet"`
	FristBis     string   `query:"einreichfristBis" format:"date" doc:"Nur Ausschreibungen, deren Frist spätestens an diesem Tag (Wiener Zeit) endet, der Tag eingeschlossen"`
	Begriff      string   `query:"suche" maxLength:"100" doc:"Text, der im deutschen oder englischen Titel vorkommt, ohne Unterschied von Groß- und Kleinschreibung"`
	Sortierung   string   `query:"sortierung" enum:"kennung,frist,summe" default:"kennung" doc:"frist: früheste zuerst, ohne Frist zuletzt; summe: höchste zuerst"`
}

// Seite is the envelope of the list.
type Seite struct {
	Seite        int           `json:"seite"`
	ProSeite     int           `json:"proSeite"`
	GesamtAnzahl int           `json:"gesamtAnzahl" doc:"Zahl aller Treffer"`
	GesamtSeiten int           `json:"gesamtSeiten"`
	Eintraege    []Kurzfassung `json:"eintraege"`
}

type Kopfzeilen struct {
	CacheControl string `header:"Cache-Control"`
}

var privat = Kopfzeilen{"private, no-cache"}

type seiteAntwort struct {
	Kopfzeilen
	Body Seite
}
type einzelAntwort struct {
	Kopfzeilen
	Body Ausschreibung
}
type fristenAntwort struct {
	Kopfzeilen
	Body []Frist
}
type geberListe struct {
	Kopfzeilen
	Body []Foerdergeber
}
type geberAntwort struct {
	Kopfzeilen
	Body Foerdergeber
}

type kennungEingabe struct {
	Kennung string `path:"id" doc:"Kennung der Ausschreibung"`
}
type kuerzelEingabe struct {
	Kuerzel string `path:"id" doc:"Kürzel des Fördergebers"`
}

type angaben struct{}

func fundingAPI(mux *http.ServeMux, a *aussteller) {
	huma.DefaultArrayNullable = false
	cfg := huma.DefaultConfig("Ausschreibungen der Hochschule für Umwelt und Meereskunde", "3.2.0")
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.CreateHooks = nil
	cfg.Info.Description = "Ausschreibungen mehrerer Fördergeber. Zeitangaben nach RFC 3339, Tage nach Wiener Zeit."
	cfg.Servers = []*huma.Server{{URL: ursprung + fundingPfad}}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"zugang": {Type: "oauth2", Flows: &huma.OAuthFlows{ClientCredentials: &huma.OAuthFlow{
			TokenURL: ursprung + a.tokenPfad,
			Scopes:   map[string]string{bereichLesen: "Ausschreibungen lesen", bereichInfo: "Auskunft über den Knoten"},
		}}},
	}
	api := humago.NewWithPrefix(mux, fundingPfad, cfg)

	// Who calls? Every operation with a security requirement wants to know.
	api.UseMiddleware(func(ctx huma.Context, next func(huma.Context)) {
		if len(ctx.Operation().Security) == 0 {
			next(ctx)
			return
		}
		r, _ := humago.Unwrap(ctx)
		c, f := a.pruefe(r)
		if f != nil {
			ablehnen(api, ctx, f)
			return
		}
		next(huma.WithValue(ctx, angaben{}, map[string]any(c)))
	})
	// May this caller read calls?
	nurBerechtigte := func(ctx huma.Context, next func(huma.Context)) {
		c, _ := ctx.Context().Value(angaben{}).(map[string]any)
		if f := darf(c); f != nil {
			ablehnen(api, ctx, f)
			return
		}
		next(ctx)
	}
	op := func(id, pfad, text string, fehler ...int) huma.Operation {
		return huma.Operation{OperationID: id, Method: "GET", Path: pfad, Summary: text, Tags: []string{"Ausschreibungen"},
			Security:    []map[string][]string{{"zugang": {bereichLesen}}},
			Middlewares: huma.Middlewares{nurBerechtigte},
			Errors:      append([]int{400, 401, 403, 422}, fehler...)}
	}

	huma.Register(api, op("listeAusschreibungen", "/ausschreibungen", "Ausschreibungen (funding calls) seitenweise"), liste)
	huma.Register(api, op("leseAusschreibung", "/ausschreibungen/{id}", "Eine Ausschreibung", 404),
		func(_ context.Context, in *kennungEingabe) (*einzelAntwort, error) {
			x := finde(in.Kennung)
			if x == nil {
				return nil, huma.Error404NotFound("Diese Ausschreibung gibt es nicht.")
			}
			return &einzelAntwort{privat, *x}, nil
		})
	stufen := op("leseFristen", "/ausschreibungen/{id}/fristen", "Die Stufen einer Ausschreibung", 404)
	if knoten == "stage" {
		stufen.Middlewares = nil
	}
	huma.Register(api, stufen, fristen)
	huma.Register(api, op("listeFoerdergeber", "/foerdergeber", "Alle Fördergeber"),
		func(context.Context, *struct{}) (*geberListe, error) {
			datenMu.RLock()
			defer datenMu.RUnlock()
			return &geberListe{privat, slices.Clone(geber)}, nil
		})
	huma.Register(api, op("leseFoerdergeber", "/foerdergeber/{id}", "Ein Fördergeber", 404),
		func(_ context.Context, in *kuerzelEingabe) (*geberAntwort, error) {
			datenMu.RLock()
			defer datenMu.RUnlock()
			for _, g := range geber {
				if g.Kuerzel == in.Kuerzel {
					return &geberAntwort{privat, g}, nil
				}
			}
			return nil, huma.Error404NotFound("Diesen Fördergeber gibt es nicht.")
		})

	dokument, err := json.Marshal(api.OpenAPI())
	if err != nil {
		panic(err)
	}
	mux.HandleFunc("GET "+fundingPfad+"/api-docs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(dokument)
	})
}

func ablehnen(api huma.API, ctx huma.Context, f *abweisung) {
	if f.challenge != "" {
		ctx.SetHeader("WWW-Authenticate", f.challenge)
	}
	huma.WriteErr(api, ctx, f.status, f.text)
}

func liste(_ context.Context, in *Suche) (*seiteAntwort, error) {
	ab, e1 := tag(in.FristAb)
	bis, e2 := tag(in.FristBis)
	if e1 != nil || e2 != nil {
		return nil, huma.Error422UnprocessableEntity("Ein Datum ist ungültig.")
	}
	if !bis.IsZero() && knoten != "until" {
		bis = bis.AddDate(0, 0, 1).Add(-time.Nanosecond) // the whole day
	}
	begriff := strings.ToLower(in.Begriff)
	treffer := slices.DeleteFunc(auszug(), func(x *Ausschreibung) bool {
		return in.Foerdergeber != "" && x.Foerdergeber != in.Foerdergeber ||
			in.Status != "" && x.Status != in.Status ||
			len(in.Zielgruppen) > 0 && !slices.ContainsFunc(in.Zielgruppen, func(z string) bool { return slices.Contains(x.Zielgruppen, z) }) ||
			!ab.IsZero() && x.frist.Before(ab) ||
			!bis.IsZero() && (x.frist.IsZero() || x.frist.After(bis)) ||
			begriff != "" && !strings.Contains(strings.ToLower(x.Titel.De), begriff) && !strings.Contains(strings.ToLower(x.Titel.En), begriff)
	})
	switch in.Sortierung {
	case "frist":
		slices.SortStableFunc(treffer, func(a, b *Ausschreibung) int {
			if a.frist.IsZero() != b.frist.IsZero() {
				if a.frist.IsZero() {
					return 1
				}
				return -1
			}
			return a.frist.Compare(b.frist)
		})
	case "summe":
		slices.SortStableFunc(treffer, func(a, b *Ausschreibung) int { return cmp.Compare(b.Foerdersumme.Wert, a.Foerdersumme.Wert) })
	}
	s := Seite{Seite: in.Seite, ProSeite: in.ProSeite, GesamtAnzahl: len(treffer),
		GesamtSeiten: (len(treffer) + in.ProSeite - 1) / in.ProSeite, Eintraege: []Kurzfassung{}}
	von := min((in.Seite-1)*in.ProSeite, len(treffer))
	for _, x := range treffer[von:min(von+in.ProSeite, len(treffer))] {
		k := x.Kurzfassung
		if knoten == "zone" && !x.frist.IsZero() {
			k.Einreichfrist = x.frist.In(wien).Format("2006-01-02T15:04:05Z")
		}
		s.Eintraege = append(s.Eintraege, k)
	}
	return &seiteAntwort{privat, s}, nil
}

func tag(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.ParseInLocation(time.DateOnly, s, wien)
}

func fristen(_ context.Context, in *kennungEingabe) (*fristenAntwort, error) {
	x := finde(in.Kennung)
	if x == nil {
		return nil, huma.Error404NotFound("Diese Ausschreibung gibt es nicht.")
	}
	beginn, _ := tag(x.Beginn)
	stufen := []Frist{{"BEGINN", Text{"Beginn der Einreichung", "Opening"}, zeitText(beginn)}}
	if !x.frist.IsZero() {
		if x.MaxDauerMonate > 36 {
			stufen = append(stufen, Frist{"SKIZZE", Text{"Projektskizze", "Outline"}, zeitText(beginn.AddDate(0, 1, 0).Add(12 * time.Hour))})
		}
		stufen = append(stufen, Frist{"VOLLANTRAG", Text{"Vollantrag", "Full proposal"}, zeitText(x.frist)})
	}
	return &fristenAntwort{privat, stufen}, nil
}
