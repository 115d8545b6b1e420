"""The page's own style and script, verbatim: the policy names both by digest.

Light and dark, print, one column that a phone shows whole. The script is a convenience: without it
every sentence still opens, and nothing is missing.
"""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--paper:#faf9f5;--sheet:#ffffff;--ink:#1b1d20;--soft:#585c64;
--rule:#dcd8ce;--accent:#1d5d63;--good:#1f6b45;--warn:#855300;--bad:#9d2626;--shade:#f0e6cf;
--tint:#f2f0ea;--serif:"Iowan Old Style",Charter,"Bitstream Charter","Noto Serif","DejaVu Serif",
Georgia,serif;--sans:system-ui,-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif;
--mono:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{--paper:#131519;--sheet:#1a1d22;--ink:#e9e6df;
--soft:#a6aab2;--rule:#31353c;--accent:#7fc8cb;--good:#7ccb9d;--warn:#e3b45f;--bad:#f0938a;
--shade:#38321f;--tint:#20242a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 var(--sans);
overflow-wrap:anywhere}
main,footer,.top{max-width:50rem;margin:0 auto;padding:0 1.1rem}
a{color:var(--accent);text-underline-offset:.28em;text-decoration-thickness:1px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-99rem}.skip:focus{position:static;display:inline-block;margin:.5rem}
.top{padding-top:2.2rem}
.word{display:flex;gap:.55rem;align-items:baseline;font-weight:650;letter-spacing:.05em;
font-size:.86rem;text-transform:uppercase;margin:0}
.word b{font-size:1.05rem}
.SUCCESS{color:var(--good)}.FALLBACK{color:var(--warn)}.FAILED,.CANCELLED{color:var(--bad)}
h1{font:600 clamp(1.5rem,1.15rem + 1.9vw,2.25rem)/1.2 var(--serif);margin:.45rem 0 .7rem;
text-wrap:balance}
h2{font:600 1.22rem/1.3 var(--serif);margin:2.6rem 0 .7rem;padding-top:.7rem;
border-top:1px solid var(--rule)}
h3{font:600 .95rem/1.4 var(--sans);margin:1.5rem 0 .4rem}
p{margin:.5rem 0}.note,.facts small{color:var(--soft);font-size:.86rem}
.lead-in{color:var(--soft);margin:.1rem 0 .8rem;max-width:42rem}
.meta{display:flex;flex-wrap:wrap;gap:.2rem 1.3rem;margin:0;font-size:.86rem;color:var(--soft)}
.meta div{display:flex;gap:.4rem}.meta dt::after{content:":"}.meta dd{margin:0;color:var(--ink)}
nav{margin:1.2rem 0 0;font-size:.88rem;display:flex;flex-wrap:wrap;gap:.2rem 1rem}
.banner{border-left:4px solid var(--bad);background:var(--sheet);padding:.8rem 1rem;margin:1.2rem 0;
color:var(--ink)}.banner strong{color:var(--bad)}
.banner.caution{border-color:var(--warn)}.banner.caution strong{color:var(--warn)}
.answer{background:var(--sheet);border:1px solid var(--rule);border-top:4px solid var(--good);
border-radius:3px;padding:.4rem 1.1rem 1rem;margin-top:1.5rem}
.answer.fallback{border-top-color:var(--warn)}.answer.failed{border-top-color:var(--bad)}
.answer h2{border:0;margin:.7rem 0 .2rem;padding:0;font:650 .8rem/1.4 var(--sans);
letter-spacing:.06em;text-transform:uppercase;color:var(--soft)}
.answer .say{font:500 1.26rem/1.42 var(--serif)}
.verdict{font:500 1.26rem/1.42 var(--serif);margin:.3rem 0 .6rem}
details>summary{cursor:pointer;list-style:none;display:grid;grid-template-columns:1.15rem 1fr;
gap:.15rem;padding:.42rem 0;border-radius:2px}
summary::-webkit-details-marker{display:none}
summary::before{content:"";width:0;height:0;margin-top:.55em;border:.3em solid transparent;
border-left:.42em solid var(--accent);transition:transform .12s}
details[open]>summary::before{transform:rotate(90deg) translate(.05em,.1em)}
summary:hover .say{text-decoration:underline;text-decoration-color:var(--accent);
text-decoration-thickness:1px;text-underline-offset:.2em}
.cites{display:block;font:.8rem/1.5 var(--mono);color:var(--soft);text-decoration:none}
.proof{margin:.1rem 0 .9rem 1.15rem;padding:.15rem 0 .1rem .9rem;
border-left:2px solid var(--accent)}
.group{list-style:none;margin:0;padding:0}.group>li+li{border-top:1px solid var(--rule)}
.steps{margin:.4rem 0;padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:.1rem .5rem;
font:.8rem/1.6 var(--mono);color:var(--soft)}
.steps li+li::before{content:"→ ";color:var(--accent)}
.fact{background:var(--tint);padding:.5rem .7rem;margin:.35rem 0;border-radius:3px;
contain:paint}
.fact:target,.call:target>summary{outline:2px solid var(--accent)}
.facts{list-style:none;margin:.4rem 0;padding:0}
.fact .no{font:.78rem var(--mono);color:var(--soft);margin-right:.5rem}
.fact b{font-weight:620}.fact .num{font-variant-numeric:tabular-nums;white-space:nowrap}
.fact small{display:block}
.tag{display:inline-block;font:600 .74rem/1.5 var(--sans);padding:0 .4rem;
border:1px solid currentcolor;
border-radius:2px;color:var(--soft);white-space:nowrap}
.tag.warn{color:var(--warn)}.tag.bad{color:var(--bad)}.tag.good{color:var(--good)}
.quote{font:.86rem/1.5 var(--mono);white-space:pre-wrap;margin:.25rem 0;padding:0;contain:paint;
max-height:24rem;overflow:auto}
dl.src{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;font-size:.85rem;margin:.5rem 0 .8rem}
dl.src div{display:flex;gap:.4rem}dl.src dt{color:var(--soft);white-space:nowrap}
dl.src dt::after{content:":"}dl.src dd{margin:0}
dl.row{display:grid;grid-template-columns:minmax(4rem,max-content) 1fr;gap:.05rem .8rem;
margin:.2rem 0;font-size:.9rem}dl.row dt{color:var(--soft)}dl.row dd{margin:0;white-space:pre-wrap}
ul.plain{padding-left:1.15rem;margin:.4rem 0}ul.plain li{margin:.25rem 0}
.lead{padding:.55rem 0;border-top:1px dashed var(--rule)}.lead:first-child{border-top:0}
.lead .gap{color:var(--warn);display:block;font-size:.9rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.88rem}
th{text-align:left;color:var(--soft);font-weight:600;font-size:.8rem}
th,td{padding:.34rem .8rem .34rem 0;border-bottom:1px solid var(--rule);vertical-align:top}
td.num{font-variant-numeric:tabular-nums}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:1.1rem}
figure{margin:0;background:var(--sheet);border:1px solid var(--rule);border-radius:3px;
padding:.7rem .8rem .4rem;break-inside:avoid}
figcaption{font-weight:620;font-size:.9rem;line-height:1.35}
figure .note{margin:.1rem 0 .2rem;font-size:.8rem}
svg{display:block;width:100%;height:auto}svg text{font:12.5px var(--sans);fill:var(--soft)}
svg .mark{fill:var(--ink);font-weight:600}svg .end{text-anchor:end}svg .middle{text-anchor:middle}
.grid{stroke:var(--rule);fill:none}.shade{fill:var(--shade)}
.onset{fill:var(--bad);opacity:.55}.level{stroke:var(--soft);stroke-width:2.5;fill:none}
.level.now{stroke:var(--accent)}.dashed{stroke-dasharray:5 4}.dot{fill:var(--accent)}
.gates{list-style:none;margin:.6rem 0;padding:0}
.gates li{display:grid;grid-template-columns:5.2rem 1fr;gap:.6rem;padding:.34rem 0;
border-bottom:1px solid var(--rule)}
.gates time{font:.8rem/1.7 var(--mono);color:var(--soft)}
.gates code{font:.82rem/1.5 var(--mono);display:block}.gates span{font-size:.9rem}
.checks li{grid-template-columns:1.4rem 1fr}.checks .y{color:var(--good)}
.checks .n{color:var(--bad)}
code{font-family:var(--mono);font-size:.86em}
.save{display:inline-block;font-weight:620;padding:.5rem .9rem;border:1px solid var(--accent);
border-radius:3px;text-decoration:none;margin:.4rem 0;background:none;color:var(--accent);
font-size:1rem;font-family:inherit;cursor:pointer}
.tools{margin:1rem 0 0}.tools button{font:inherit;font-size:.86rem;color:var(--accent);
background:none;border:1px solid var(--rule);border-radius:3px;padding:.25rem .7rem;cursor:pointer}
footer{margin:3rem auto 2.5rem;color:var(--soft);font-size:.84rem}
[hidden]{display:none!important}
@media (max-width:34rem){body{font-size:1.02rem}.gates li{grid-template-columns:1fr;gap:0}
.checks li{grid-template-columns:1.4rem 1fr}
.proof{margin-left:.2rem}
.stack thead{display:none}.stack,.stack tbody,.stack tr,.stack td{display:block;width:100%}
.stack tr{padding:.5rem 0;border-bottom:1px solid var(--rule)}
.stack td{border:0;padding:.08rem 0}.stack td[data-of]::before{content:attr(data-of) ": ";
color:var(--soft)}}
@media (prefers-reduced-motion:reduce){summary::before{transition:none}}
@media print{:root{color-scheme:light;--paper:#fff;--sheet:#fff;--ink:#000;--soft:#444;--rule:#bbb;
--accent:#1d5d63;--good:#1f6b45;--warn:#855300;--bad:#9d2626;--shade:#f0e6cf;--tint:#f4f4f4}
body{font-size:10.5pt}main,footer,.top{max-width:none;padding:0}nav,.skip,.tools,.save{display:none}
summary,.fact,.gates li,tr{break-inside:avoid}h2,h3{break-after:avoid}
.quote{max-height:none;overflow:visible}.scroll{overflow:visible}
details::details-content{content-visibility:visible!important;display:block!important}
}
""".strip()

SCRIPT: Final = """
(function(){"use strict";
var all=Array.prototype.slice.call(document.querySelectorAll("details"));
var was=[];
function reveal(){var id=decodeURIComponent(location.hash.slice(1));
var at=id&&document.getElementById(id);
for(var up=at;up;up=up.parentElement){if(up.tagName==="DETAILS"){up.open=true;}}
if(at){at.scrollIntoView();}}
addEventListener("hashchange",reveal);reveal();
addEventListener("beforeprint",function(){was=all.filter(function(d){return !d.open;});
was.forEach(function(d){d.open=true;});});
addEventListener("afterprint",function(){was.forEach(function(d){d.open=false;});});
var button=document.getElementById("open-all");
if(button){button.parentElement.hidden=false;button.addEventListener("click",function(){
var open=all.some(function(d){return !d.open;});all.forEach(function(d){d.open=open;});
button.textContent=open?"Close all evidence":"Open all evidence";
button.setAttribute("aria-expanded",String(open));});}
var held=document.getElementById("held"),save=document.getElementById("save");
if(held&&save){save.hidden=false;save.addEventListener("click",function(){
var raw=atob(held.textContent.trim()),bytes=new Uint8Array(raw.length);
for(var i=0;i<raw.length;i+=1){bytes[i]=raw.charCodeAt(i);}
var link=document.createElement("a");
link.href=URL.createObjectURL(new Blob([bytes],{type:"application/octet-stream"}));
link.download=save.dataset.name;link.click();});}
}());
""".strip()
