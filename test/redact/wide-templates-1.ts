// Shapes of secrets, A to H: the name, two spaces or more, the template of `wide-families.ts`. The secret of an address stands in « ».
// Most are as their vendors document them; a few are made up in the manner of vendors, so that prefixes which no rule knows are tried, too.

export const TEMPLATES_1 = `
ai21 labs                  ai21_{b40}
airtable personal          pat{b14}.{h64}
aiven service token        aivenv1{B200}
alchemy                    alch_{u32}
alibaba key id             LTAI5t{b18}
amazon bedrock long        ABSK{B128}
amazon bedrock short       bedrock-api-key-{B160}
amazon key id              AKIA{t16}
amazon mws                 amzn.mws.{uuid}
amazon session             IQoJb3JpZ2luX2Vj{B400}
amazon temporary key id    ASIA{t16}
anthropic                  sk-ant-api03-{u93}AA
anthropic admin            sk-ant-admin01-{u93}AA
anthropic oauth            sk-ant-oat01-{u93}AA
apify                      apify_api_{b36}
appwrite                   standard_{h256}
arize                      ak-{uuid}-{u32}
artifactory                AKCp8{b68}
asana old                  1/{d16}:{h32}
asana personal             2/{d16}/{d16}:{h32}
assemblyai named           aai_{h32}
atlassian                  ATATT3xFfGF0{u170}={H8}
atlassian connect          ATCTT3xFfGN0{u170}={H8}
auth0 management           a0mgmt_{b48}
azure active directory     {b3}8Q~{u34}
azure api management       {B76}APIM{B5}A==
azure batch                {B76}+ABa{B5}A==
azure cognitive            {b52}JQQJ99{b1}A{b16}C{b7}
azure container registry   {B42}+ACRA{b5}
azure cosmos               {B76}ACDb{B5}A==
azure devops               {b76}AZDO{b4}
azure event hub            {B33}+AEh{B5}A=
azure function             {u44}AzFu{u5}A==
azure iot                  {B33}AIoT{B5}A=
azure search               {b42}AzSeC{b5}
azure service bus          {B33}+ASb{B5}A=
azure storage              {B76}+ASt{B5}A==
bitbucket app password     ATBB{b24}{H8}
bitbucket data center      BBDC-N{B43}
bitrise                    bitpat_{b40}
braintrust                 sk-{b48}
brave search               BSA{b28}
brevo                      xkeysib-{h64}-{b16}
brevo smtp                 xsmtpsib-{h64}-{b16}
browserbase                bb_live_{u28}
browserless                brl_{b32}
bunny                      bnny_{h40}
calendly                   eyJraWQiOiI{b40}.{b120}.{u86}
cerebras                   csk-{a48}
chargebee                  live_{b50}
checkout                   sk_prod_{a26}
circleci                   CCIPAT_{b22}_{h40}
circleci project           CCIPRJ_{b22}_{h40}
clerk                      sk_live_{b40}
clickhouse                 4b1d{b38}
clickup                    pk_{d8}_{A32}
clojars                    CLOJARS_{h60}
cloudflare origin          v1.0-{h24}-{h146}
cloudflare user token      cfut_{b40}{h8}
codeium                    cdm_{b40}
cohere                     co_{b40}
composio                   ak_{b20}
confluent cloud            cflt{B60}
convex                     prod:quick-fox-123|«{B80}»
copilot                    tid={h32};exp=1700000000;sku=free_limited;8kp=1:{h64}
crates                     cio{b32}
cursor                     key_{h64}
databricks                 dapi{h32}
databricks service         dose{h32}-2
deepgram                   dg_{h40}
deepl free                 {uuid}:fx
deepseek                   sk-{h32}
defined networking         dnkey-{A26}-{A52}
deno deploy                ddp_{b36}
digitalocean               dop_v1_{h64}
digitalocean oauth         doo_v1_{h64}
digitalocean refresh       dor_v1_{h64}
discord bot                MT{b24}.{u6}.{u38}
discord hook               https://discord.com/api/webhooks/«1{d18}/{u68}»
docker                     dckr_pat_{u27}
docker organisation        dckr_oat_{u32}
doppler personal           dp.pt.{b43}
doppler service            dp.st.dev_main.{b43}
dropbox long               sl.u.{u300}
dropbox short              sl.{u136}
e2b                        e2b_{h40}
easypost                   EZAK{b54}
elastic service            essu_{B96}
elevenlabs                 sk_{h48}
endor                      endr+{b16}
envoy                      env_live_{b40}
exoscale                   EXO{h24}
expo                       exp_{b40}
facebook                   EAAG{b160}
fal                        {uuid}:{h32}
figma                      figd_{u40}
finicity                   fini_{h32}
firebase cloud messaging   AAAA{u7}:APA91b{u134}
firecrawl                  fc-{h32}
fireworks                  fw_{b24}
fly                        fm2_{B180}
fly old                    fo1_{u43}
frame io                   fio-u-{u64}
gitea                      gta_{h40}
github app                 ghu_{b36}
github classic             ghp_{b36}
github fine grained        github_pat_{b22}_{b59}
github installation        ghs_{b36}
github refresh             ghr_{b76}
gitlab deploy              gldt-{u20}
gitlab feed                glft-{u20}
gitlab incoming mail       glimt-{u25}
gitlab job                 glcbt-64_{u20}
gitlab personal            glpat-{u20}
gitlab routable            glpat-{u27}.01.{a9}
gitlab runner              glrt-{u20}
gitlab trigger             glptt-{h40}
gocardless                 live_{u40}
google api                 AIza{u35}
google chat hook           https://chat.googleapis.com/v1/spaces/AAAA{u7}/messages?key=AIza{u35}&token=«{u43}»
google client secret       GOCSPX-{u28}
google oauth               ya29.a0{u160}
google refresh             1//0{d1}{u60}
grafana cloud              glc_{B100}
grafana service            glsa_{b32}_{h8}
groq                       gsk_{b52}
harness personal           pat.{u22}.{h24}.{b20}
hashicorp batch            hvb.{u140}
hashicorp service          hvs.{u95}
hashicorp terraform        {b14}.atlasv1.{u67}
helicone                   sk-helicone-{a7}-{a7}-{a7}-{a7}
heroku                     HRKU-AA{u58}
honeycomb ingest           hcaik_{a58}
hubspot                    pat-na1-{uuid}
huggingface                hf_{b34}
huggingface organisation   api_org_{b34}
ifttt hook                 https://maker.ifttt.com/trigger/done/with/key/«{u43}»
infisical                  st.{h24}.{h32}.{h32}
infracost                  ico-{b32}
inngest signing            signkey-prod-{h64}
instagram                  IGQVJ{b150}
instagram new              IGQWR{u150}
intercom                   dG9rOj{b54}=
intra 42                   s-s4t2ud-{h64}
ionic                      ion_{b42}
jetbrains                  perm-{b12}.{b14}.{b30}
jina                       jina_{b60}
klaviyo                    pk_{h34}
langfuse                   sk-lf-{uuid}
launchdarkly api           api-{uuid}
`
