// Shapes of secrets, the second half of `wide-templates-1.ts`.

export const TEMPLATES_2 = `
launchdarkly sdk           sdk-{uuid}
lemon squeezy              eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.{u200}.{u300}
lichess                    lip_{b20}
linear                     lin_api_{b40}
linkedin                   WPL_AP1.{b16}.{b6}==
llama cloud                llx-{b48}
lob                        live_{h35}
logfire                    pylf_v1_us_{b43}
mailchimp                  {h32}-us14
mailersend                 mlsn.{h64}
mailgun                    key-{h32}
mailgun new                {h32}-{h8}-{h8}
make hook                  https://hook.eu2.make.com/«{a32}»
mapbox                     sk.{json:a}.{u22}
maxmind                    {b6}_{b29}_mmk
meilisearch                mei_{h64}
mem0                       m0-{b40}
mercury                    secret-token:mercury_production_rma_{b32}_yrucrem
microsoft teams hook       https://acme.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/«{h32}/{uuid}»
modal id                   ak-{b22}
modal secret               as-{b22}
mongo atlas                mdb_sa_sk_{u40}
neon                       napi_{a64}
netlify                    nfp_{b40}
new relic                  NRAK-{A27}
new relic browser          NRJS-{h19}
new relic insights         NRII-{u32}
new relic licence          {h36}NRAL
nightfall                  NF-{b32}
notion                     ntn_{d11}{b35}
notion old                 secret_{b43}
novita                     sk_{u43}
npm                        npm_{b36}
nuget                      oy2{a43}
nvidia                     nvapi-{u64}
octopus                    API-{A26}
okta named                 okta_{u42}
onepassword account        A3-{A6}-{A6}-{A5}-{A5}-{A5}-{A5}
onepassword service        ops_eyJ{b250}
openai                     sk-{b20}T3BlbkFJ{b20}
openai admin               sk-admin-{u74}T3BlbkFJ{u74}
openai project             sk-proj-{u74}T3BlbkFJ{u74}
openai service             sk-svcacct-{u74}T3BlbkFJ{u74}
openrouter                 sk-or-v1-{h64}
openshift                  sha256~{u43}
packagist                  packagist_uut_{h68}
paddle                     pdl_live_apikey_{a26}_{b22}_{b3}
parallel                   par_{b44}
paypal                     access_token$production\${a16}\${h32}
paystack                   sk_live_{h40}
perplexity                 pplx-{b48}
phrase                     phr_{h64}
pinata                     pin_{b44}
pinecone                   pcsk_{b6}_{b63}
pinterest                  pina_{A48}
plaid access               access-production-{uuid}
planetscale password       pscale_pw_{u43}
planetscale token          pscale_tkn_{u43}
polar                      polar_oat_{b43}
portkey                    pkl_{b32}
posthog                    phx_{b47}
postman                    PMAK-{h24}-{h34}
power automate hook        https://prod-08.westeurope.logic.azure.com/workflows/{h32}/triggers/manual/paths/invoke?api-version=2016-06-01&sig=«{u43}»
prisma                     prs_{b44}
privateai                  pvt_{h40}
pypi                       pypi-AgEIcHlwaS5vcmc{u150}
qdrant                     qdr_{b48}
railway                    rlwy_{b44}
ramp                       ramp_sec_{b48}
rapidapi                   {a10}msh{a15}p1{h6}jsn{a12}
render                     rnd_{b28}
replicate                  r8_{b37}
resend                     re_{b8}_{b24}
retool                     retool_{b46}
rootly                     rootly_{h64}
rubygems                   rubygems_{h48}
runpod                     rpa_{A40}{a6}
sanity                     sk{b178}
scaleway                   SCW{A17}
scalingo                   tk-us-{u48}
segment                    sgp_{b64}
sendbird                   sbd_{h40}
sendgrid                   SG.{u22}.{u43}
sentry organisation        sntrys_eyJ{b120}={b43}
sentry user                sntryu_{h64}
settlemint                 sm_pat_{b16}
shippo                     shippo_live_{h40}
shopify admin              shpat_{h32}
shopify app                shpss_{h32}
slack app                  xapp-1-A{A10}-{d13}-{h64}
slack bot                  xoxb-{d12}-{d13}-{b24}
slack browser              xoxc-{d12}-{d13}-{d13}-{h64}
slack cookie               xoxd-{b40}%2B{b60}%3D
slack hook                 https://hooks.slack.com/services/«T{A8}/B{A10}/{b24}»
slack refresh              xoxe-1-{b146}
slack user                 xoxp-{d12}-{d12}-{d12}-{h32}
snyk                       snyk_uat.{h8}.{u80}
sonar                      squ_{h40}
sonar project              sqp_{h40}
sourcegraph                sgp_{h16}_{h40}
square                     EAAA{u60}
square secret              sq0csp-{u43}
stackhawk                  hawk.{u20}.{u20}
stellar                    SC{t54}
stripe hook                whsec_{b32}
stripe live                sk_live_51{b96}
stripe organisation        sk_org_live_{b60}
stripe restricted          rk_live_51{b96}
stripe test                sk_test_51{b96}
stytch                     secret-live-{u34}==
supabase                   sbp_{h40}
supabase secret            sb_secret_{u22}_{u8}
svix hook                  whsec_{B32}
svix key                   sk_{u32}.eu
tailscale                  tskey-auth-{b12}CNTRL-{b32}
tailscale client           tskey-client-{b12}CNTRL-{b32}
tavily                     tvly-dev-{b32}
telegram                   7{d9}:AA{u33}
telegram call              https://api.telegram.org/bot«7{d9}:AA{u33}»/getUpdates
telnyx                     KEY01{H30}_{b22}
temporal                   tmprl_{b60}
tencent                    AKID{b32}
tigris                     tsec_{b60}
tinybird                   p.eyJ{b80}.{u43}
together                   tgp_v1_{u43}
trello                     ATTA{h72}
trigger                    tr_prod_{b20}
twilio                     SK{h32}
twitch                     oauth:{a30}
twitter                    AAAAAAAAAAAAAAAAAAAAA{b7}AAAAAAA{b22}%2B{b18}%3D{b50}
typeform                   tfp_{b44}_{b14}
unkey                      unkey_{b24}
upstash                    upst_{b60}
valtown                    vtwn_{b30}
vercel                     vcp_{b56}
vercel blob                vercel_blob_rw_{b16}_{b30}
volcengine                 AKLT{b43}
voyage                     pa-{u43}
weaviate                   wvt_{b48}
weights and biases         wandb_v1_{b77}
windmill                   wm_token_{b32}
woocommerce                cs_{h40}
workos                     sk_live_{b48}
writer                     wrt_{b44}
xai                        xai-{b80}
yandex cloud               AQVN{u36}
yandex oauth               y0_AgAAAA{u49}
zapier hook                https://hooks.zapier.com/hooks/catch/«{d7}/{a7}»/
zep                        z_1dWlkIjoi{u90}.{u43}
zoho                       1000.{h32}.{h32}
zuplo                      zpka_{h32}_{h8}
`
