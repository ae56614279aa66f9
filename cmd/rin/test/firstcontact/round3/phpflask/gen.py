# builds calls.sqlite and the two OpenAPI documents (port is filled in by the node)
import sqlite3, json, os, datetime as D
if os.path.exists('calls.sqlite'): os.remove('calls.sqlite')
db=sqlite3.connect('calls.sqlite')
db.execute('create table calls(id text primary key,type text,region text,title_de text,title_en text,opens text,closes text,budget integer,lang text,keywords text)')
T=['GRANT','GRANT_SMALL','PRIZE','FELLOWSHIP'];R=['WIEN','TIROL','KÄRNTEN','STEIERMARK','SALZBURG']
W=[('Alpine Böden','Alpine soils'),('Leise Städte','Quiet cities'),('Wärme & Strom','Heat & power'),('Digitales Erbe','Digital heritage'),('Meere','Seas'),('Gesund altern','Ageing well'),('Zufall','Chance')]
for i in range(1,61):
    o=D.date(2026,1,5)+D.timedelta(days=9*i); c=None if i%11==0 else (o+D.timedelta(days=60+i%5*15)).isoformat()
    w=W[i%7]
    db.execute('insert into calls values(?,?,?,?,?,?,?,?,?,?)',('FC-%04d'%(i*7),T[(i*i+i//4)%4],R[(i+i//5)%5],w[0]+f' – Ausschreibung {i}',w[1]+f' – call {i}',o.isoformat(),c,[900,15000,250000,1200000,80000][i*3%5]+i*10,'de' if i%3 else 'en',json.dumps([w[1].split()[0].lower(),'research'])))
db.commit()
s=lambda **k:k
call=s(type='object',required=['id','type','region','title','opens','budget','keywords'],properties=s(id=s(type='string',example='FC-0007'),type=s(type='string',enum=T),region=s(type='string',enum=R),
 title=s(type='object',required=['de','en'],properties=s(de=s(type='string'),en=s(type='string'))),opens=s(type='string',format='date'),closes=s(type='string',format='date',description='Absent when the call has no end.'),budget=s(type='integer',description='EUR'),keywords=s(type='array',items=s(type='string'))))
prob=s(type='object',required=['title','status'],properties=s(title=s(type='string'),status=s(type='integer'),detail=s(type='string')))
def ref(n): return {'$ref':'#/components/schemas/'+n}
def P(n,sch,d,w='query'): return {'name':n,'in':w,'required':w=='path','schema':sch,'description':d}
def build(base,pre,tok,errt,errs,listsch,params,hdr,cond):
    err=lambda d:{'description':d,'content':{errt:{'schema':ref('Error')}}}
    e401=dict(err('No token, or it is not good.'),headers={'WWW-Authenticate':{'required':True,'schema':{'type':'string'}}})
    R=lambda ok,*m:dict({'200':{'description':'OK','content':{'application/json':{'schema':ok}}},'400':err('The request is malformed.'),'401':e401,'405':err('The method is not GET, HEAD or OPTIONS.')},**{k:err(v) for k,v in m})
    lr=R(listsch,('403','The client lacks the role.'));lr['200']['headers']=hdr
    dr=R(ref('Call'),('403','The client lacks the role.'),('404','No such call.'))
    if cond: dr['304']={'description':'Not modified (If-None-Match).'}
    v=pre+'/funding/v3'
    doc=s(openapi='3.0.3',info=s(title=f'Funding API ({base})',version='3.1.0'),servers=[s(url='http://127.0.0.1:{port}')],security=[{'oauth':['funding.read']}],
     paths={v+'/calls':s(get=s(operationId='listCalls',summary='Funding calls',description='All funding calls. Filters hold together (AND). Unknown parameters are ignored.',parameters=params,responses=lr)),
      v+'/calls/{id}':s(get=s(operationId='getCall',summary='One funding call',parameters=[P('id',s(type='string',example='FC-0007'),'Id of the call, as listed.','path')],responses=dr)),
      pre+'/info/v1/oauth/info/':s(get=s(operationId='getInfo',summary='Test of the authorization; any good token opens it',responses=R(ref('Info')))),
      v+'/api-docs':s(get=s(operationId='apiDocs',summary='This document',security=[],responses={'200':{'description':'OK','content':{'application/json':{'schema':{'type':'object'}}}},'405':err('The method is not GET, HEAD or OPTIONS.')}))},
     components=s(securitySchemes=s(oauth=s(type='oauth2',flows=s(clientCredentials=s(tokenUrl='http://127.0.0.1:{port}'+tok,scopes={'funding.read':'Read funding calls'})))),
      schemas=s(Call=call,Error=errs,Info=s(type='object',required=['node','client'],properties=s(node=s(type='string'),client=s(type='string'),api=s(type='string'))))))
    json.dump(doc,open(f'spec_{base}.json','w'),ensure_ascii=False,indent=1)
F=[P('type',s(type='string',enum=T),'Only calls of exactly this type; another value is answered with 400.'),P('region',s(type='string',enum=R),'Only calls of exactly this region; another value is answered with 400.'),P('closesUntil',s(type='string',format='date'),'Calls that close on or before this day; calls without an end are left out.')]
build('flask','/research','/oauth/token','application/problem+json',prob,s(type='object',required=['total','items'],properties=s(total=s(type='integer',description='Number of calls that match the filters.'),items=s(type='array',items=ref('Call')),next=s(type='string',description='Address of the next page; absent on the last one.'))),
 F+[P('offset',s(type='integer',minimum=0,default=0),'Number of calls to skip.'),P('limit',s(type='integer',minimum=1,maximum=100,default=25),'Largest number of calls in the answer.')],{},False)
e2=s(type='object',required=['code','message'],properties=s(code=s(type='string'),message=s(type='string')))
build('php','/ris','/auth/token','application/json',e2,s(type='array',items=ref('Call')),
 F+[P('sort',s(type='string',enum=['id','budget','opens'],default='id'),'Ascending order of the calls, by this member, then by id.'),P('page',s(type='integer',minimum=1,default=1),'Number of the page, from 1.'),P('per_page',s(type='integer',minimum=1,maximum=100,default=20),'Calls on a page.')],
 {'X-Total-Count':{'description':'Number of calls that match the filters.','required':True,'schema':{'type':'integer'}},'Link':{'description':'rel=next, absent on the last page.','schema':{'type':'string'}}},True)
