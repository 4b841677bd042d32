"""The peer: the rule by which the original companion scored scams, as it was.

Substrings of the lower-cased text, a share of each list that was found, and a bonus for patterns
that occur together. It is kept to be measured against, with its faults.
"""

import re
from collections.abc import Sequence

KEYWORDS: dict[str, tuple[str, ...]] = {
    "love_bombing": (
        "can't live without", "destiny", "eternally", "forever", "love of my life", "marry me",
        "meant to be", "obsessed", "perfect match", "soulmate", "the one", "true love",
        "一辈子", "世界上最", "余生", "命中注定", "唯一", "天生一对", "娶你", "嫁给",
        "完美", "想你想得", "无法自拔", "最爱", "每分每秒", "永远", "深深爱着", "灵魂伴侣",
        "爱上", "白头偕老", "真爱", "离不开", "结婚",
    ),
    "money_request": (
        "bitcoin", "crypto", "emergency funds", "hospital bill", "investment", "profit",
        "returns", "send money", "trading", "transfer money", "urgent payment", "wire",
        "买单", "低风险", "住院", "保本", "借点", "借钱", "充值", "充话费", "内幕消息",
        "加密货币", "医药费", "卡号", "周转", "回报", "困难", "帮忙付", "平台", "应急",
        "微信支付", "急需", "手术", "打款", "投资", "提现", "操作", "支付宝", "收益",
        "数字货币", "比特币", "汇款", "炒币", "理财", "盈利", "礼物", "稳赚", "红包",
        "虚拟币", "账户", "赚钱", "转账", "钱包", "银行卡", "高回报",
    ),
    "external_links": (
        ".cn", ".com", "app", "http://", "https://", "line",
        "telegram", "whatsapp", "www.",
        "qq群", "下载", "二维码", "加我", "安装", "平台", "应用", "打开", "扫码", "注册",
        "添加我", "点击", "网址", "网站", "链接",
    ),
    "urgency_pressure": (
        "don't miss", "expires", "hurry", "immediately", "last chance", "limited time",
        "right now", "urgent",
        "不然", "仅剩", "今天", "只有", "后悔", "否则", "太迟", "必须", "快点", "截止",
        "抓紧", "晚了", "最后", "机会", "来不及", "现在", "立刻", "赶紧", "错过", "限时",
        "马上",
    ),
    "inconsistency": (
        "不是", "之前", "其实", "军人", "出差", "医生", "商人", "国外", "坦白说", "外派",
        "实际上", "工程师", "弄错", "忘了", "搞混", "改口", "更正", "海外", "石油", "纠正",
        "维和", "老实说", "老板", "联合国", "记错", "说实话", "钻井", "驻外",
    ),
    "too_good": (
        "100%", "easy money", "get rich", "guaranteed", "no effort", "passive income",
        "risk-free",
        "一定", "不用", "亿万", "什么都不用", "保证", "别墅", "千万", "发财", "容易",
        "富豪", "无风险", "日赚", "暴富", "月入", "游艇", "私人飞机", "稳赚不赔", "简单",
        "绝对", "继承", "翻倍", "肯定", "豪宅", "豪车", "躺赚", "轻松", "遗产", "零风险",
    ),
}  # fmt: skip
WEIGHTS = {
    "love_bombing": 0.35,
    "money_request": 0.45,
    "external_links": 0.3,
    "urgency_pressure": 0.25,
    "inconsistency": 0.2,
    "too_good": 0.3,
}
COMPOSITES = (
    ("love_bombing", "money_request", 5, 1.5),
    ("urgency_pressure", "money_request", 3, 1.3),
    ("too_good", "money_request", 10, 1.4),
    ("external_links", "money_request", 5, 1.4),
)
_URL = re.compile(r"https?://|www\.|\b[\w-]+\.(?:com|cn|net|org)\b")
_SPREAD = 3
_MESSAGES = 20


def original_score(messages: Sequence[str]) -> float:
    """Return the original's rule score of a conversation, 0 to 1."""
    texts = [one.lower() for one in messages[-_MESSAGES:]]
    # It looked for composites in what had been stored before the message came.
    found = [
        {name for name, words in KEYWORDS.items() if _hits(text, words)} for text in texts[:-1]
    ]
    latest = texts[-1] if texts else ""
    total = 0.0
    for name, words in KEYWORDS.items():
        total += WEIGHTS[name] * min(_SPREAD * _hits(latest, words) / len(words), 1.0)
    if _URL.search(latest) and not _hits(latest, KEYWORDS["external_links"]):
        total += WEIGHTS["external_links"] * 0.8
    for first, second, within, multiplier in COMPOSITES:
        together = any(
            {first, second} <= set[str]().union(*found[at : at + within])
            for at in range(len(found))
        )
        total += together * (WEIGHTS[first] + WEIGHTS[second]) * (multiplier - 1)
    return min(total, 1.0)


def _hits(text: str, words: Sequence[str]) -> int:
    return sum(word in text for word in words)
