import os,json,time,secrets,base64,re,threading
from urllib.parse import unquote_plus,urlencode,parse_qsl
from flask import Flask,request,Response,g
from sqlalchemy import create_engine,text
V=os.environ.get('NODE','base');PORT=os.environ.get('PORT','8080');B=f'http://127.0.0.1:{PORT}';w=lambda *n:V in n
HERE=os.path.dirname(os.path.abspath(__file__))
eng=create_engine('sqlite:///'+HERE+'/calls.sqlite',connect_args={'check_same_thread':False})
SPEC=json.loads(open(HERE+'/spec_flask.json').read().replace('{port}',PORT))
CL={'kfu-main':('Mk7-river_stone.42',True),'kfu-second':('Sk9-cloud_tower.77',True),'kfu-norole':('Nk3-empty_glass.11',False)}
TTL=600;tok={};lock=threading.Lock();seen={};count=[0]
app=Flask(__name__,static_folder=None);app.url_map.strict_slashes=True;app.json.ensure_ascii=False
def J(o,st=200,ct='application/json',**h):
    r=Response(json.dumps(o,ensure_ascii=False).encode(),st)
    r.headers['Content-Type']=ct+('; charset=UTF-8' if w('right-charset') else '')
    for k,v in h.items(): r.headers[k.replace('_','-')]=v
    return r
def prob(st,title,detail='',**h):
    o={'title':title,'status':st,'detail':detail}
    if w('right-problem-extra'): o.update(type='https://errors.example/'+str(st),instance='urn:uuid:00000000-0000-4000-8000-000000000001',traceId='4bf92f3577b34da6')
    return J(o,st,'application/problem+json',**h)
def terr(code,st=400,**h): return J({'error':code,**({'error_description':'Die Anfrage wurde abgelehnt','error_uri':B+'/help'} if w('right-token-extra') else {})},st,Cache_Control='no-store',Pragma='no-cache',**h)
@app.route('/oauth/token',methods=['POST'],provide_automatic_options=False)
def token():
    if (request.mimetype or '')!='application/x-www-form-urlencoded': return terr('invalid_request')
    try: f=parse_qsl(request.get_data(cache=False).decode('utf-8'),keep_blank_values=True,errors='strict')
    except Exception: return terr('invalid_request')
    ks=[k for k,_ in f]
    if len(ks)!=len(set(ks)): return terr('invalid_request')
    f={k:v for k,v in f if v!=''};a=request.headers.get('Authorization');basic=a is not None
    if basic:
        m=re.fullmatch(r'(?i:basic) +([A-Za-z0-9+/]+=*)',a)
        try: cid,sec=[unquote_plus(x) for x in base64.b64decode(m[1],validate=True).decode().split(':',1)]
        except Exception: return terr('invalid_client',401,WWW_Authenticate='Basic realm="kfu"')
        if 'client_secret' in f or f.get('client_id',cid)!=cid: return terr('invalid_request')
    else: cid,sec=f.get('client_id'),f.get('client_secret')
    if w('client-id-case') and cid: cid=cid.lower()
    c=CL.get(cid)
    if w('secret-trim') and sec: sec=sec.strip()
    if not c or sec is None or not secrets.compare_digest(sec.encode(),c[0].encode()):
        if w('basic-unknown-no-challenge') and basic and not c: return terr('invalid_client',401)
        return terr('invalid_client',401,WWW_Authenticate='Basic realm="kfu"')
    gt=f.get('grant_type')
    if gt is None: return terr('invalid_request')
    if gt!='client_credentials': return terr('unsupported_grant_type')
    if 'scope' in f and not w('scope-ignored') and set(f['scope'].split(' '))-{'funding.read'}: return terr('invalid_scope')
    t=secrets.token_urlsafe(2200 if w('right-long-token') else 32)
    with lock: tok[t]=(cid,time.time()+TTL)
    o={'access_token':t,'token_type':'bearer' if w('right-lowercase-type') else 'Bearer','expires_in':TTL,'scope':f.get('scope','funding.read')}
    if w('right-token-extra'): o.update({'not-before-policy':0,'session_state':'3f1c','refresh_expires_in':0,'x_tenant':'Universität Graz'})
    return J(o,Cache_Control='no-store',Pragma='no-cache')
def auth(role):
    ch='Bearer realm="kfu"';hs=request.headers.getlist('Authorization')
    if not hs: return prob(401,'Unauthorized','token missing',WWW_Authenticate=ch)
    h=hs[0]
    if not re.match(r'(?i)bearer( |$)',h): return prob(401,'Unauthorized','scheme not known',WWW_Authenticate=ch)
    m=re.fullmatch(r'(?i:bearer) +([A-Za-z0-9._~+/-]+=*)',h)
    if not m or len(hs)>1 or 'access_token' in request.args: return prob(400,'Bad Request','credentials malformed',WWW_Authenticate=ch+', error="invalid_request"')
    t=m[1]
    if w('token-nocase'): t={k.lower():k for k in list(tok)}.get(t.lower(),t)
    x=tok.get(t)
    if not x or x[1]<time.time(): return prob(401,'Unauthorized','token not good',WWW_Authenticate=ch+', error="invalid_token", error_description="unknown or expired"')
    g.cid=x[0];ok=CL[x[0]][1]
    if w('decision-cache') and role:
        k=request.full_path
        if ok: seen[k]=time.time()+60
        ok=ok or seen.get(k,0)>time.time()
    if role and not ok: return prob(403,'Forbidden','role EXTERNAL_API_CLIENT missing',WWW_Authenticate=ch+', error="insufficient_scope", scope="funding.read"')
def row(r,detail=False):
    d={'id':r.id,'type':r.type,'region':r.region,'title':{'de':r.title_de,'en':r.title_en},'opens':r.opens,'budget':r.budget,'keywords':json.loads(r.keywords)}
    if r.closes: d['closes']=r.closes
    if w('detail-day-shift') and detail and r.closes and '2026-03-29'<=r.closes<'2026-10-25':
        import datetime;d['closes']=(datetime.date.fromisoformat(r.closes)-datetime.timedelta(days=1)).isoformat()
    if w('budget-text') and r.budget>=1000000: d['budget']=f'{r.budget:,}'.replace(',','.')
    if w('right-extra-members'): d.update(_links={'self':B+'/research/funding/v3/calls/'+r.id},größe=None,legacy=[])
    return d
ENUM={p['name']:p['schema'].get('enum') for p in SPEC['paths']['/research/funding/v3/calls']['get']['parameters']}
GET=dict(methods=['GET','HEAD'],provide_automatic_options=False)
P='/research/funding/v3'
@app.route(P+'/calls',**GET)
def calls():
    e=auth(True)
    if e: return e
    q=request.args;cond=[];p={}
    for k in('type','region','closesUntil'):
        vs=q.getlist(k)
        if len(vs)>1: return prob(400,'Bad Request',k+' is given twice')
        if vs:
            if w('date-error-html') and k=='closesUntil' and not re.fullmatch(r'[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])',vs[0]): return Response('<!doctype html>\n<title>400 Bad Request</title>\n<h1>Bad Request</h1>\n',400,content_type='text/html; charset=utf-8')
            if ENUM[k] and vs[0] not in ENUM[k] or k=='closesUntil' and not re.fullmatch(r'[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])',vs[0]): return prob(400,'Bad Request',k+' has no such value')
            cond.append({'type':'type=:type','region':'region=:region','closesUntil':'closes<:closesUntil' if w('until-exclusive') else 'closes<=:closesUntil'}[k]);p[k]=vs[0]
    n={}
    for k,d,lo,hi in(('offset',0,0,2**31-1),('limit',25,1,100)):
        v=q.get(k,str(d))
        if w('offset-overflow') and k=='offset' and v.isdigit():
            n[k]=int(v);continue
        if not re.fullmatch('[0-9]{1,10}',v) or not lo<=int(v)<=hi or len(q.getlist(k))>1: return prob(400,'Bad Request',k+' is out of range')
        n[k]=int(v)
    wh=' where '+(' or ' if w('filters-or') else ' and ').join(cond) if cond else ''
    try:
        with eng.connect() as c:
            total=c.execute(text('select count(*) from calls'+wh),p).scalar()
            o=n['offset']-(1 if w('page-overlap') and n['offset']>=30 else 0)
            rows=c.execute(text('select * from calls'+wh+' order by id limit :l offset :o'),{**p,'l':n['limit'],'o':o}).fetchall()
    except Exception:
        import traceback;return prob(500,'Internal Server Error',traceback.format_exc())
    o={'total':total,'items':[row(r) for r in rows]};nx=n['offset']+n['limit']
    if nx<total: o['next']=B+P+'/calls?'+urlencode({**{k:v for k,v in q.items()},'offset':nx,'limit':n['limit']})
    r=J(o)
    if w('right-chunked'):
        body=r.get_data();r=Response((body[i:i+500] for i in range(0,len(body),500)),200,content_type='application/json')
    return r
@app.route(P+'/calls/<id>',**GET)
def call(id):
    e=auth(not(w('head-detail-no-role') and request.method=='HEAD'))
    if e: return e
    with eng.connect() as c: r=c.execute(text('select * from calls where id=:i'),{'i':id}).fetchone()
    return J(row(r,True)) if r else prob(404,'Not Found','no such call')
@app.route('/research/info/v1/oauth/info/',**GET)
def info(): return auth(False) or J({'node':'KFU','client':g.cid,'api':B+P+'/api-docs'})
@app.route(P+'/api-docs',**GET)
def docs(): return J(SPEC)
@app.route('/registry.json')
def reg(): return J({'member':[{'id':'KFU','name':'Universität K','acronym':'KFU','contact':'ris@kfu.example','oauth2':B+'/oauth/token','info':B+'/research/info/v1/oauth/info/'}]})
@app.errorhandler(404)
def e404(e): return prob(404,'Not Found','no such resource')
@app.errorhandler(405)
def e405(e):
    al=', '.join(sorted(set(e.valid_methods)|({'OPTIONS'} if 'GET' in e.valid_methods else set())))
    if request.method=='OPTIONS' and 'GET' in e.valid_methods: return Response(b'',204,{'Allow':al})
    return prob(405,'Method Not Allowed','',Allow=al)
@app.errorhandler(500)
def e500(e): return prob(500,'Internal Server Error')
@app.before_request
def maint():
    if w('right-503') and request.path.startswith(P+'/calls'):
        count[0]+=1
        if count[0]%60==7: return prob(503,'Service Unavailable','back in a moment',Retry_After='1')
@app.after_request
def hd(r):
    r.headers.setdefault('Cache-Control','no-store');r.headers['X-Content-Type-Options']='nosniff';r.headers['Vary']='Authorization'
    return r
if __name__=='__main__':
    from waitress import serve
    serve(app,host='127.0.0.1',port=int(PORT),threads=8,ident=None)
