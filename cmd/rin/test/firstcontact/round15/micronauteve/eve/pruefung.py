"""Prüfung der Abfrageparameter; dieselbe Tabelle steht im OpenAPI-Dokument."""
import datetime as dt
import re
from urllib.parse import parse_qsl

from werkzeug.datastructures import MultiDict

import daten

KENNUNG = r"^FG-[0-9]{2}$"
SEITEN = [
    dict(name="seite", typ="zahl", von=1, bis=100000, vorgabe=1, text="Nummer der Seite, beginnend bei 1. Hinter der letzten Seite ist die Liste leer."),
    dict(name="anzahl", typ="zahl", von=1, bis=50, vorgabe=20, text="Höchstzahl der Einträge je Seite."),
]
PARAMETER = {
    "ausschreibungen": [
        dict(name="status", typ="wort", werte=["GEPLANT", "OFFEN", "GESCHLOSSEN"], text="Nur Ausschreibungen mit diesem Status."),
        dict(name="foerdergeber", typ="muster", muster=KENNUNG, text="Nur Ausschreibungen dieses Fördergebers. Zu einer Kennung, die es nicht gibt, ist die Liste leer."),
        dict(name="region", typ="liste", werte=daten.REGIONEN, text="Nur Ausschreibungen in mindestens einer der genannten Regionen; der Parameter darf mehrmals stehen."),
        dict(name="frist_ab", typ="tag", text="Nur Ausschreibungen, deren Frist (Tag in UTC) an diesem Tag oder später liegt. Jahr 0001 bis 9999. Ausschreibungen ohne Frist fallen weg."),
        dict(name="frist_bis", typ="tag", text="Nur Ausschreibungen, deren Frist (Tag in UTC) an diesem Tag oder früher liegt. Jahr 0001 bis 9999. Ausschreibungen ohne Frist fallen weg."),
        dict(name="summe_ab", typ="zahl", von=0, bis=100000000, text="Nur Ausschreibungen, deren summe_bis mindestens so groß ist."),
        dict(name="suche", typ="text", min=1, max=60, text="Nur Ausschreibungen, deren Titel diese Zeichenfolge enthält; Groß- und Kleinschreibung ist gleich, auch bei Umlauten. Alle Zeichen stehen für sich selbst."),
        dict(name="sortierung", typ="wort", werte=["id", "frist", "-frist", "titel", "-titel"], vorgabe="id",
             text="Reihenfolge: nach id, Frist oder Titel (nach Unicode-Codepunkten), mit Minus absteigend. Ausschreibungen ohne Frist stehen bei frist und -frist am Ende; Gleiche ordnet die id aufsteigend."),
    ] + SEITEN,
    "foerdergeber": SEITEN,
    "fristen": [
        dict(name="ab", typ="tag", text="Nur Fristen an diesem Tag (UTC) oder später. Jahr 0001 bis 9999."),
        dict(name="bis", typ="tag", text="Nur Fristen an diesem Tag (UTC) oder früher. Jahr 0001 bis 9999."),
        dict(name="art", typ="wort", werte=daten.ARTEN, text="Nur Fristen dieser Art."),
    ] + SEITEN,
}


class Falsch(Exception):
    def __init__(self, name, grund):
        self.name, self.grund = name, grund


def lies(abfrage):
    """Wie request.args, doch bleibt erkennbar, was kein UTF-8 war."""
    return MultiDict(parse_qsl(abfrage.decode("latin-1"), keep_blank_values=True, encoding="utf-8", errors="surrogateescape"))


def pruefe(ressource, args):
    ergebnis = {}
    for p in PARAMETER.get(ressource, []):
        n = p["name"]
        werte = args.getlist(n)
        if not werte:
            if "vorgabe" in p:
                ergebnis[n] = p["vorgabe"]
            continue
        if p["typ"] == "liste":
            for w in werte:
                if w not in p["werte"]:
                    raise Falsch(n, "Erlaubt sind: " + ", ".join(p["werte"]))
            ergebnis[n] = werte
            continue
        if len(werte) > 1:
            raise Falsch(n, "Der Parameter darf nur einmal stehen.")
        w = werte[0]
        if p["typ"] == "zahl":
            if not re.fullmatch(r"[0-9]{1,12}", w) or not p["von"] <= int(w) <= p["bis"]:
                raise Falsch(n, "Erwartet wird eine ganze Zahl von %d bis %d." % (p["von"], p["bis"]))
            ergebnis[n] = int(w)
        elif p["typ"] == "wort":
            if w not in p["werte"]:
                raise Falsch(n, "Erlaubt sind: " + ", ".join(p["werte"]))
            ergebnis[n] = w
        elif p["typ"] == "muster":
            if not re.fullmatch(p["muster"].strip("^$"), w):
                raise Falsch(n, "Erwartet wird das Muster " + p["muster"])
            ergebnis[n] = w
        elif p["typ"] == "tag":
            try:
                if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", w):
                    raise ValueError
                dt.date(int(w[:4]), int(w[5:7]), int(w[8:]))
            except ValueError:
                raise Falsch(n, "Erwartet wird ein Tag wie 2026-11-28, Jahr 0001 bis 9999.")
            ergebnis[n] = w
        else:
            if not p["min"] <= len(w) <= p["max"] or any("\ud800" <= z <= "\udfff" for z in w):
                raise Falsch(n, "Erwartet wird Text von %d bis %d Zeichen in UTF-8." % (p["min"], p["max"]))
            ergebnis[n] = w
    return ergebnis
