<?php
declare(strict_types=1);
error_reporting(E_ALL);ini_set('display_errors','0');header_remove('X-Powered-By');ini_set('default_charset','');ini_set('default_mimetype','');
$V=getenv('NODE')?:'base';$PORT=getenv('PORT');$B="http://127.0.0.1:$PORT";
function w(string $n):bool{global $V;return $V===$n;}
const KEY='k3y-of-the-institute-9f27c1d4e8aa00b1';
$CL=['phu-main'=>[str_repeat('8f3a91c2',10),true],'phu-second'=>['sec+42/ond=aa',true],'phu-norole'=>['nr-55-aa',false]];
$STG=['phu-staging'=>['stg-77-bb',true]];
$path=explode('?',$_SERVER['REQUEST_URI'],2)[0];$qs=explode('?',$_SERVER['REQUEST_URI'],2)[1]??'';$m=$_SERVER['REQUEST_METHOD'];
$H=array_change_key_case(getallheaders(),CASE_LOWER);
function out(int $st,$o,array $h=[],string $ct='application/json'):never{
  global $m;http_response_code($st);
  $h+=['Content-Type'=>w('right-charset')?$ct.';charset=utf-8':$ct,'Cache-Control'=>'no-store','X-Content-Type-Options'=>'nosniff','Vary'=>'Authorization'];
  if(w('right-language')&&$st===200){$h['Content-Language']='de, en';$h['Vary']='Authorization, Accept-Language, Origin';$h['Strict-Transport-Security']='max-age=31536000';}
  $b=$o===null?'':json_encode($o,JSON_UNESCAPED_UNICODE|(w('right-escaped')?JSON_PRETTY_PRINT:JSON_UNESCAPED_SLASHES));
  if($o!==null)$h['Content-Length']=(string)strlen($b);else unset($h['Content-Type']);
  foreach($h as $k=>$v)if($v!==null)header("$k: $v");
  if($o===null)header_remove('Content-Type');
  http_response_code($st); // after header(): PHP turns WWW-Authenticate into 401
  if($m!=='HEAD')echo $b;
  exit;
}
function err(int $st,string $c,string $msg,array $h=[]):never{out($st,['code'=>$c,'message'=>$msg],$h);}
function b64(string $s):string{return rtrim(strtr(base64_encode($s),'+/','-_'),'=');}
function unb64(string $s):string{return (string)base64_decode(strtr($s,'-_','+/'));}
function methods(array $ok,string $m):void{
  if(in_array($m,$ok,true))return;
  $al=implode(', ',$ok);
  if(in_array('GET',$ok,true)){$al.=', OPTIONS';if($m==='OPTIONS')out(204,null,['Allow'=>$al]);}
  global $path;
  err(405,'method','method not allowed',w('detail-405-no-allow')&&str_contains($path,'/calls/')?[]:['Allow'=>$al]);
}
function params(string $s):array{ // name => list of values
  $r=[];foreach(explode('&',$s) as $kv){if($kv==='')continue;[$k,$v]=explode('=',$kv,2)+[1=>''];$r[urldecode($k)][]=urldecode($v);}return $r;
}
function token(array $clients,string $iss):never{
  global $H,$m;
  $ns=['Cache-Control'=>'no-store','Pragma'=>'no-cache'];
  $e=fn(string $c,int $st=400,array $h=[])=>out($st,['error'=>$c],$h+$ns);
  methods(['POST'],$m);
  if(strtolower(trim(explode(';',$H['content-type']??'')[0]))!=='application/x-www-form-urlencoded')$e('invalid_request');
  $raw=file_get_contents('php://input');
  $p=params($raw);
  if(!mb_check_encoding(urldecode($raw),'UTF-8'))$e('invalid_request');
  foreach($p as $k=>$v)if(count($v)>1){if(w('dup-scope-last')&&$k==='scope')continue;$e('invalid_request');}
  $f=array_filter(array_map(fn($v)=>end($v),$p),fn($v)=>$v!=='');
  $ch=['WWW-Authenticate'=>'Basic realm="phu", charset="UTF-8"'];
  $basic=isset($H['authorization']);
  if($basic){
    if(!preg_match('/^basic +([A-Za-z0-9+\/]+=*)$/iD',$H['authorization'],$x)||!str_contains($d=base64_decode($x[1]),':'))$e('invalid_client',401,$ch);
    [$id,$sec]=array_map('urldecode',explode(':',$d,2));
    if(isset($f['client_secret'])||($f['client_id']??$id)!==$id)$e('invalid_request');
  }else{$id=$f['client_id']??null;$sec=$f['client_secret']??null;}
  $c=$id!==null?($clients[$id]??null):null;$ok=false;
  if($c&&$sec!==null)$ok=w('secret-72')?hash_equals(substr($c[0],0,72),substr($sec,0,72)):hash_equals($c[0],$sec);
  if(!$ok)$e('invalid_client',401,$ch);
  $g=$f['grant_type']??null;
  if($g===null)$e('invalid_request');
  if(w('grant-regex')?!preg_match('/client_credentials/',$g):$g!=='client_credentials')$e('unsupported_grant_type');
  if(isset($f['scope'])&&$f['scope']!=='funding.read')$e('invalid_scope');
  $now=time();
  $pl=['iss'=>$iss,'aud'=>'phu-funding','sub'=>$id,'iat'=>$now,'exp'=>$now+900,'jti'=>bin2hex(random_bytes(8)),'role'=>$c[1]?'EXTERNAL_API_CLIENT':'NONE'];
  if(w('right-array-aud')){$pl['aud']=['phu-funding','account'];$pl['exp']=$now+900.5;$pl['realm_access']=['roles'=>array_fill(0,60,'rolle-für-öffentliche-daten')];}
  $si=b64(json_encode(['alg'=>'HS256','typ'=>'JWT'])).'.'.b64(json_encode($pl));
  $o=['access_token'=>$si.'.'.b64(hash_hmac('sha256',$si,KEY,true)),'token_type'=>w('right-array-aud')?'BEARER':'Bearer','expires_in'=>900];
  if(w('right-no-expires'))unset($o['expires_in']);
  out(200,$o,w('basic-token-cacheable')&&$basic?['Cache-Control'=>'private, max-age=60','Pragma'=>null]:$ns);
}
function auth(bool $role):array{
  global $H,$B,$qs;$ch='Bearer realm="phu"';$h=$H['authorization']??null;
  $inv=fn()=>err(401,'token','the token is not good',['WWW-Authenticate'=>"$ch, error=\"invalid_token\""]);
  if($h===null)err(401,'no_token','send a bearer token',['WWW-Authenticate'=>$ch]);
  if(w('scheme-unanchored')){if(!preg_match('/bearer\s+([A-Za-z0-9._~+\/-]+=*)/i',$h,$x))err(401,'scheme','send a bearer token',['WWW-Authenticate'=>$ch]);}
  else{
    if(!preg_match('/^bearer( |$)/i',$h))err(401,'scheme','send a bearer token',['WWW-Authenticate'=>$ch]);
    if(!preg_match('/^bearer +([A-Za-z0-9._~+\/-]+=*)$/iD',$h,$x)||isset(params($qs)['access_token']))err(400,'credentials','malformed credentials',['WWW-Authenticate'=>"$ch, error=\"invalid_request\""]);
  }
  $s=explode('.',$x[1]);if(count($s)!==3)$inv();
  $hd=json_decode(unb64($s[0]),true);$p=json_decode(unb64($s[1]),true);
  if(!is_array($hd)||!is_array($p))$inv();
  $alg=$hd['alg']??'';
  if(w('alg-none-case')){if($alg==='none')$inv();$skip=is_string($alg)&&strtolower($alg)==='none';}else{$skip=false;if($alg!=='HS256')$inv();}
  $good=b64(hash_hmac('sha256',"$s[0].$s[1]",KEY,true));
  if(!$skip&&!(w('sig-prefix')?strncmp($good,$s[2],20)===0:hash_equals($good,$s[2])))$inv();
  $iss=$p['iss']??'';
  if(w('issuer-prefix')?!str_starts_with($iss,"$B/auth"):$iss!=="$B/auth")$inv();
  if(!in_array('phu-funding',(array)($p['aud']??[]),true)||($p['exp']??0)<=time()||($p['iat']??PHP_INT_MAX)>time()+60)$inv();
  if($role&&($p['role']??'')!=='EXTERNAL_API_CLIENT')err(403,'role','the client lacks the role EXTERNAL_API_CLIENT',['WWW-Authenticate'=>"$ch, error=\"insufficient_scope\""]);
  return $p;
}
function row(array $r):array{
  $d=['id'=>$r['id'],'type'=>$r['type'],'region'=>$r['region'],'title'=>['de'=>$r['title_de'],'en'=>$r['title_en']],'opens'=>$r['opens']];
  if($r['closes']!==null)$d['closes']=$r['closes'];
  return $d+['budget'=>(int)$r['budget'],'keywords'=>json_decode($r['keywords'])];
}
$G=['GET','HEAD'];$P='/ris/funding/v3';
$db=fn()=>new PDO('sqlite:'.__DIR__.'/calls.sqlite',null,null,[PDO::ATTR_ERRMODE=>PDO::ERRMODE_EXCEPTION,PDO::ATTR_DEFAULT_FETCH_MODE=>PDO::FETCH_ASSOC]);
try{
  if($path==='/auth/token')token($CL,"$B/auth");
  if($path==='/auth-staging/token')token($STG,"$B/auth-staging");
  if($path==='/registry.json')out(200,['member'=>[['id'=>'PHU','name'=>'PH U','acronym'=>'PHU','contact'=>'ris@phu.example','oauth2'=>"$B/auth/token",'info'=>"$B/ris/info/v1/oauth/info/"]]]);
  $spec=fn()=>json_decode(str_replace('{port}',$PORT,file_get_contents(__DIR__.'/spec_php.json')));
  if($path==="$P/api-docs"){methods($G,$m);$d=$spec();
    if(w('right-path-servers'))foreach($d->paths as $k=>$v){if(str_starts_with($k,'/ris/')){$v->servers=[(object)['url'=>"$B/ris"]];$d->paths->{substr($k,4)}=$v;unset($d->paths->$k);}}
    out(200,$d);}
  if($path==='/ris/info/v1/oauth/info/'){methods($G,$m);$p=auth(false);out(200,['node'=>'PHU','client'=>$p['sub']]);}
  if($path==="$P/calls"){
    methods($G,$m);auth(true);$q=params($qs);$c=[];$a=[];
    $bad=fn(string $k)=>err(400,'parameter',"$k has no such value");
    $sch=[];foreach($spec()->paths->{"$P/calls"}->get->parameters as $x)$sch[$x->name]=$x->schema;
    foreach($q as $k=>$v){if(isset($sch[$k])&&count($v)>1)$bad($k);if(isset($sch[$k]->enum)&&!in_array($v[0],$sch[$k]->enum,true))$bad($k);}
    foreach(['type','region'] as $k)if(isset($q[$k])){$like=w('type-prefix')&&$k==='type';$c[]=$like?"$k like ?":"$k=?";$a[]=$q[$k][0].($like?'%':'');}
    if(isset($q['closesUntil'])){$d=$q['closesUntil'][0];if(!preg_match('/^\d{4}-\d\d-\d\d$/D',$d)||!checkdate((int)substr($d,5,2),(int)substr($d,8,2),(int)substr($d,0,4)))$bad('closesUntil');$c[]=w('until-keeps-open')?"(closes<=? or closes is null)":"closes<=?";$a[]=$d;}
    $n=[];foreach(['page'=>[1,PHP_INT_MAX>>32],'per_page'=>[20,100]] as $k=>[$def,$max]){$v=$q[$k][0]??(string)$def;if(!preg_match('/^\d{1,10}$/D',$v)||(int)$v<1||(int)$v>$max)$bad($k);$n[$k]=(int)$v;}
    $wh=$c?' where '.implode(' and ',$c):'';$sort=$q['sort'][0]??'id';$D=$db();
    $st=$D->prepare("select count(*) from calls$wh");$st->execute($a);$tot=(int)$st->fetchColumn();
    $col=w('budget-sorted-as-text')&&$sort==='budget'?'cast(budget as text)':$sort;
    $st=$D->prepare("select * from calls$wh order by $col,id limit {$n['per_page']} offset ".(($n['page']-1)*$n['per_page']));$st->execute($a);
    $rows=array_map('row',$st->fetchAll());
    $last=w('last-page-lost')?max(1,intdiv($tot,$n['per_page'])):(int)ceil($tot/$n['per_page']);
    if(w('last-page-lost')&&$n['page']>$last)$rows=[];
    if(w('total-unfiltered')&&$c)$tot=(int)$D->query('select count(*) from calls')->fetchColumn();
    $h=['X-Total-Count'=>(string)$tot];
    if($n['page']<$last){$u="$B$P/calls?".http_build_query(['page'=>$n['page']+1,'per_page'=>$n['per_page']]+array_map(fn($v)=>$v[0],array_diff_key($q,['page'=>1,'per_page'=>1])));$h['Link']="<$u>; rel=\"next\"";}
    out(200,$rows,$h);
  }
  if(str_starts_with($path,"$P/calls/")&&!str_contains($id=rawurldecode(substr($path,strlen("$P/calls/"))),'/')&&$id!==''){
    methods($G,$m);auth(true);$st=$db()->prepare('select * from calls where id=?');$st->execute([$id]);$r=$st->fetch();
    if(!$r)err(404,'not_found','no such call');
    $d=row($r);$et='"'.substr(md5(json_encode($d)),0,16).'"';if(w('right-weak-etag'))$et='W/'.$et;
    $h=['ETag'=>$et,'Cache-Control'=>'private, no-cache'];$inm=$H['if-none-match']??null;
    $hit=$inm!==null&&($inm==='*'||in_array(preg_replace('~^W/~','',$et),array_map(fn($x)=>preg_replace('~^W/~','',trim($x)),explode(',',$inm)),true));
    if(w('inm-any')&&$inm!==null)$hit=true;
    if($hit)out(304,null,$h);
    out(200,$d,$h);
  }
  err(404,'not_found','no such resource');
}catch(Throwable $e){err(500,'internal','internal error');}
